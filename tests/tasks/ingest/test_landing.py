"""Landing the documents of an ingest.

The tests cover what is read once, what is known by which path, what the summary says, and what a map file may hold.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from pathlib import Path

import pytest

from schemas.errors import UsageError
from schemas.settings import Settings
from tasks.ingest import landing
from tasks.ingest.answer_files import find_answered, find_companion
from tasks.ingest.companions import read_companion
from tasks.ingest.documents import IngestOptions, list_sources, make_options, parse_document
from tasks.ingest.landing import land_documents
from tests.tasks.ingest.builders import make_xlsx, write
from warehouse.lake import Lake

PAPER = "一、判断题\n1. 地球绕太阳转。（√）\n2. 月球绕地球转。（√）\n"


def test_files_of_one_name_in_two_folders_stay_distinguishable(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    for place in ("law/2024", "history/2024", "history/2025"):
        folder = tmp_path / place
        folder.mkdir(parents=True)
        write(folder, "final.txt", f"{PAPER}3. {place}是一个路径吗？（×）\n")
    single = write(tmp_path, "final.txt", PAPER)
    folders = [tmp_path / "law/2024", tmp_path / "history/2024", tmp_path / "history/2025", single]
    land_documents(lake, settings, folders)
    assert sorted(lake.query("select source_path from documents")["source_path"].to_list()) == [
        "2025/final.txt",
        "final.txt",
        "history/2024/final.txt",
        "law/2024/final.txt",
    ]


def test_a_folder_named_twice_or_inside_another_gives_every_file_once(tmp_path: Path) -> None:
    inner = tmp_path / "papers" / "law"
    inner.mkdir(parents=True)
    file = write(inner, "a.txt", PAPER)
    sources = list_sources([tmp_path / "papers", inner, tmp_path / "papers", file])
    assert [source.name.as_posix() for source in sources] == ["papers/law/a.txt"]


def test_an_interrupted_ingest_goes_on_and_reads_no_document_twice(
    tmp_path: Path, lake: Lake, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for number in range(7):
        write(folder, f"{number}.txt", f"{PAPER}3. {number}是偶数吗？（√）\n")
    monkeypatch.setattr(landing, "DOCUMENTS_PER_LANDING", 2)
    real = landing._land_chunk
    chunks: list[int] = []

    def stop_at_the_third(*arguments: object) -> None:
        if len(chunks) == 2:
            raise KeyboardInterrupt
        chunks.append(1)
        real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(landing, "_land_chunk", stop_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        land_documents(lake, settings, [folder])
    monkeypatch.setattr(landing, "_land_chunk", real)
    summary = land_documents(lake, settings, [folder])
    assert (summary.documents, summary.skipped) == (Counter(parsed=3), 4)
    assert lake.query("select count(*) as n from documents")["n"].item() == 7
    assert land_documents(lake, settings, [folder]).skipped == 7


def test_the_summary_counts_by_status_and_type_and_names_every_problem(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    folder = tmp_path / "papers"
    (folder / "old").mkdir(parents=True)
    write(folder, "good.txt", PAPER + "二、简答题\n1. 什么是卫星？\n")
    write(folder / "old", "empty.docx", b"")
    counts = land_documents(lake, settings, [folder]).as_counts()
    assert counts == {
        "documents": {"parsed": 1, "empty": 1},
        "questions": {"true_false": 2, "short_answer": 1},
        "question_statuses": {"parsed": 2, "no_answer": 1},
        "question_count": 3,
        "documents_without_discipline": 1,
        "skipped_documents": 0,
        "quarantined_rows": 0,
        "held": [],
        "held_questions": 0,
        "losses": [],
        "problems": [
            {
                "document": "papers/old/empty.docx",
                "status": "empty",
                "error": "The file has no bytes. Save it again, or leave it out.",
            }
        ],
        "assistance": None,
    }


def test_maps_and_the_source_kind_hold_for_all_documents(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    write(folder, "macro-期末.txt", PAPER)
    write(
        folder, "bank.xlsx", make_xlsx({"S": [["Frage", "Antwort 1", "Antwort 2", "Lösung"], ["甲是什么", "1", "2", "B"]]})
    )  # fmt: skip
    disciplines = write(tmp_path, "d.yaml", "macro-*: Economics\nbank.xlsx: {discipline: Law}\n")
    columns = write(
        tmp_path, "m.yaml", "columns: {stem: Frage, A: Antwort 1, B: [Antwort 2], answer: [Lösung]}\n"
    )
    options = make_options(disciplines, columns, "postgraduate_entrance", use_ocr=False)
    land_documents(lake, settings, [folder], options=options, workers=1)
    rows = lake.query(
        "select document_name, discipline, source_kind, question_count from documents order by 1"
    )
    assert rows.rows() == [
        ("bank.xlsx", "Law", "postgraduate_entrance", 1),
        ("macro-期末.txt", "Economics", "postgraduate_entrance", 2),
    ]
    question = lake.query("select options, answer from questions where question_type = 'multiple_choice'")
    assert question.to_dicts() == [
        {"options": [{"label": "A", "text": "1"}, {"label": "B", "text": "2"}], "answer": ["B"]}
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot be opened"),
        (b"\xff\xfe\x00", "not UTF-8"),
        ("macro: [Economics", "line "),
        ("- Economics", "must hold"),
        ("", "is empty"),
        ("alchemy: Alchemy", "'alchemy' names no discipline"),
        ("macro: 3", "'macro' names no discipline"),
    ],
)
def test_a_discipline_map_that_cannot_be_used_is_one_clear_sentence(
    tmp_path: Path, text: str | bytes | None, says: str
) -> None:
    path = tmp_path / "map.yaml"
    if text is not None:
        write(tmp_path, path.name, text)
    with pytest.raises(UsageError, match=says) as caught:
        make_options(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (None, "cannot be opened"),
        ("columns: [1]", "must hold"),
        ("colums: {stem: x}", "must hold"),
        ("columns: {steam: [x]}", "the role 'steam'"),
        ("columns: {stem: [{}]}", "must list header names"),
        ("disciplines: {x: Alchemy}", "'x' names no discipline"),
    ],
)
def test_a_mapping_file_that_cannot_be_used_is_one_clear_sentence(
    tmp_path: Path, text: str | None, says: str
) -> None:
    path = tmp_path / "map.yaml"
    if text is not None:
        write(tmp_path, path.name, text)
    with pytest.raises(UsageError, match=says):
        make_options(mapping_file=path)


def test_an_unknown_source_kind_is_refused() -> None:
    with pytest.raises(UsageError, match="undergraduate_final"):
        make_options(source_kind="quiz")


def test_the_longest_key_that_fits_a_path_names_its_discipline(tmp_path: Path) -> None:
    path = write(tmp_path, "Macro-2024.txt", PAPER)
    mapping = {"macro": "Law", "macro-2024": "History/World History", "*.txt": "Arts"}
    document = parse_document(path, IngestOptions(discipline_map=mapping)).document
    assert (document["discipline"], document["sub_discipline"]) == ("History", "World History")


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("期末A", "期末A答案"),
        ("Prüfung 3", unicodedata.normalize("NFD", "Prüfung_3_Lösung")),
        ("Тест", "Тест ответы"),
    ],
)
def test_an_answer_file_that_comes_later_is_found(tmp_path: Path, name: str, key: str) -> None:
    paper = write(tmp_path, f"{name}.txt", PAPER)
    assert find_companion(paper) is None
    answers = write(tmp_path, f"{key}.txt", "1. √\n")
    assert find_companion(paper) == answers
    answers.unlink()
    assert find_companion(paper) is None


def test_an_answer_file_may_leave_out_which_examination_of_one_paper_it_answers(tmp_path: Path) -> None:
    paper = write(tmp_path, "JHS 2 SCIENCE END OF TERM TWO.txt", PAPER)
    key = write(tmp_path, "JHS 2 SCIENCE MARKING SCHEME.txt", "1. √\n")
    write(tmp_path, "HARBOUR KEY.txt", "1. √\n")
    assert (find_companion(paper), find_answered(key)) == (key, paper)
    # Of two such papers it is not known.
    other = write(tmp_path, "JHS 2 SCIENCE END OF TERM ONE.txt", PAPER)
    assert (find_companion(paper), find_companion(other), find_answered(key)) == (None, None, None)


def test_a_chinese_answer_file_may_leave_out_the_examination_but_not_the_version(tmp_path: Path) -> None:
    paper = write(tmp_path, "水车原理期末试卷B（2023-2024-2）.txt", PAPER)
    key = write(tmp_path, "水车原理B卷参考答案及评分标准.txt", "1. √\n")
    assert (find_companion(paper), find_answered(key)) == (key, paper)
    key.unlink()
    for name in (
        "水车原理A卷参考答案",
        "水车原理参考答案",
        "水车原理期中B卷答案",
        "水车B卷答案",
        "风车原理B卷答案",
    ):
        key = write(tmp_path, f"{name}.txt", "1. √\n")
        assert find_companion(paper) is None, name
        key.unlink()


def test_a_chinese_answer_file_may_abbreviate_its_subject(tmp_path: Path) -> None:
    paper = write(tmp_path, "计算机网络2024秋A卷(学长给的).txt", PAPER)
    key = write(tmp_path, "计网A卷参考答案及评分细则.txt", "1. √\n")
    assert (find_companion(paper), find_answered(key)) == (key, paper)
    # so may the key of another one be called
    write(tmp_path, "计量网格2024秋A卷.txt", PAPER)
    assert find_companion(paper) is None


@pytest.mark.parametrize(
    ("of_paper", "of_key", "is_its"),
    [
        ("生物期末卷", "生物期末卷答案", True),
        ("大学物理期末", "大物期末答案", True),
        ("大学物理实验期末", "大物期末答案", False),
        ("计算机网络安全期末", "计算机网络期末答案", False),
        ("中国近代史期末", "中国史期末答案", False),
        ("数据库系统结构期末", "数据结构期末答案", False),
    ],
)
def test_a_name_is_shortened_by_the_first_characters_of_its_words(
    tmp_path: Path, of_paper: str, of_key: str, is_its: bool
) -> None:
    paper = write(tmp_path, f"{of_paper}.txt", PAPER)
    key = write(tmp_path, f"{of_key}.txt", "1. √\n")

    assert find_companion(paper) == (key if is_its else None)


def test_an_answer_file_beside_its_paper_says_whose_it_is(tmp_path: Path) -> None:
    key = write(
        tmp_path, "期末A答案.txt", "一、单项选择题\n1-5 ABDCB\n二、多项选择题\n1-5 AB ACD BC ABD CD\n"
    )
    told = "The document holds 10 answers and no questions: it is the key of "
    assert parse_document(key, IngestOptions()).document["error"] == f"{told}another paper."
    paper = write(tmp_path, "期末A.txt", PAPER)
    assert (find_answered(key), find_answered(paper)) == (paper, None)
    document = parse_document(key, IngestOptions()).document
    assert (
        document["error"] == f"{told}期末A.txt beside it, and nothing is wrong with it. "
        "If 期末A.txt was read before its key was there, give it its answers with --again."
    )
    # Of two papers of that name it is not known.
    write(tmp_path, "期末A.docx", b"PK")
    assert find_answered(key) is None


def test_an_answer_file_that_goes_or_becomes_a_link_meanwhile_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paper, secret = write(tmp_path, "期末A.txt", PAPER), write(tmp_path, "elsewhere.txt", "1. √\n")
    answers = write(tmp_path, "期末A答案.txt", "1. √\n")
    assert read_companion(answers, {})
    answers.unlink()
    answers.symlink_to(secret)
    with pytest.raises(OSError, match="symbolic links"):
        read_companion(answers, {})
    monkeypatch.setattr(
        "tasks.ingest.answer_files._list_files", lambda *_: {(("a", "期末"), True): [tmp_path / "gone.txt"]}
    )
    assert find_companion(paper) is None


def test_of_two_copies_of_a_paper_the_one_with_its_answer_file_is_read(
    tmp_path: Path, lake: Lake, settings: Settings
) -> None:
    paper = "一、选择题\n1. 下列为质数的是（ ）\nA. 四 B. 六 C. 七 D. 九\n"
    folder = tmp_path / "papers"
    folder.mkdir()
    write(folder, "a copy.txt", paper)
    write(folder, "final.txt", paper)
    write(folder, "final答案.txt", "参考答案\n一、选择题\n1. C\n")
    write(folder, "~$final.txt", "open")
    land_documents(lake, settings, [folder])
    rows = lake.query("select source_path, status from documents order by source_path").to_dicts()
    assert [(Path(row["source_path"]).name, row["status"]) for row in rows] == [
        ("final.txt", "parsed"),
        ("final答案.txt", "no_questions"),
        ("~$final.txt", "unsupported"),
    ]
    assert lake.query("select answer from questions")["answer"].to_list() == [["C"]]
