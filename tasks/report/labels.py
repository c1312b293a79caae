"""The words of the report, in Chinese and English."""

from __future__ import annotations

from typing import Literal

from schemas.errors import UsageError
from tasks.report.league_labels import LEAGUE_LABELS
from tasks.report.site_labels import SITE_LABELS

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")

LABELS: dict[str, tuple[str, str]] = {
    **LEAGUE_LABELS,
    **SITE_LABELS,
    "title": ("大模型闭卷考试排行榜", "LLM exam leaderboard"),
    "leaderboard": ("排行榜", "Leaderboard"),
    "heatmap": ("各学科得分", "Scores by discipline"),
    "trend": ("逐月变化", "Month by month"),
    "release": ("得分与发布日期", "Score against release date"),
    "styles": ("提示方式的影响", "Prompt styles"),
    "behind": ("数据依据", "What stands behind the numbers"),
    "costs": ("费用", "Cost"),
    "month": ("月份", "Month"),
    "style": ("提示方式", "Prompt style"),
    "weights": ("权重", "Weights"),
    "all": ("全部", "All"),
    "open": ("开放权重", "Open"),
    "closed": ("闭源", "Closed"),
    "rank": ("名次", "Rank"),
    "model": ("模型", "Candidate"),
    "organisation": ("机构", "Organisation"),
    "score": ("绝对分 S", "S"),
    "interval": ("95% 区间", "95% interval"),
    "rank_range": ("名次范围", "Rank range"),
    "rank_group": ("组", "Group"),
    "place": ("名次说明", "What the rank means"),
    "equated_score": ("等值分", "Equated"),
    "score_sd": ("重复间标准差", "sd of repeats"),
    "relative_score": ("相对分 R", "R"),
    "pair_count": ("R 的题次", "pairs of R"),
    "repeat_count": ("重复", "Repeats"),
    "question_count": ("题次 N", "N"),
    "unanswered_count": ("未作答", "Unanswered"),
    "unparsed_count": ("未解析", "Unparsed"),
    "judge": ("裁判模型", "Judge"),
    "reference_model": ("参照模型", "Reference"),
    "bank_version": ("题库版本", "Bank version"),
    "run_id": ("考试批次", "Run"),
    "state": ("状态", "State"),
    "style_mean": ("均值", "Mean"),
    "style_variance": ("总体方差", "Population variance"),
    "zero_shot": ("零样本", "Zero-shot"),
    "few_shot": ("少样本", "Few-shot"),
    "chain_of_thought": ("思维链", "Chain of thought"),
    "release_date": ("发布日期", "Release date"),
    "discipline": ("学科", "Discipline"),
    "discipline_score": ("得分（0–10）", "Score (0–10)"),
    "purpose": ("用途", "Purpose"),
    "purpose_exam": ("考试作答", "exam"),
    "purpose_judge": ("评判", "judging"),
    "purpose_judge_trial": ("裁判自测", "self-test of judges"),
    "purpose_error_label": ("错误分类", "error classes"),
    "purpose_drift": ("裁判漂移监测", "drift of judges"),
    "purpose_contamination": ("泄漏重放", "contamination replay"),
    "purpose_augment": ("题目扩充", "augmentation"),
    "purpose_ingest": ("试卷切分", "splitting of papers"),
    "purpose_cgeval": ("Gscore 作答", "Gscore"),
    "purpose_league_ask": ("联赛出题", "league: asking"),
    "purpose_league_answer": ("联赛作答", "league: answering"),
    "purpose_league_judge": ("联赛互评", "league: judging"),
    "call_count": ("调用次数", "Calls"),
    "token_count": ("词元（入 / 出）", "Tokens (in / out)"),
    "cost_usd": ("费用（美元）", "Cost (USD)"),
    "simulated": ("模拟数据", "SIMULATED"),
    "simulated_about": (
        "参加者或裁判是模拟程序，分数不说明任何真实模型的能力。",
        "Candidates or judges were simulated: these scores say nothing about any real model.",
    ),
    "provisional": ("暂定结果", "PROVISIONAL"),
    "provisional_about": (
        "裁判模型尚未经过人工评分校准，名次可能改变。",
        "The judge has not been calibrated against people yet: the order may change.",
    ),
    "published": ("正式", "Published"),
    "gates": ("带着未过的门槛发布", "PUBLISHED WITH A GATE SHUT"),
    "gates_about": (
        "{gates}；经人工决定仍然发布，理由：{reason}",
        "{gates}. A person decided to publish all the same; the reason: {reason}",
    ),
    "gates_reason": ("理由", "Reason"),
    "not_distinguishable": ("无法区分（两两比较，Holm，5%）", "Not distinguishable (all pairs, Holm, 5%)"),
    "from_others": ("{model} 与另外 {count} 个", "{model} from {count}"),
    "gate_incomplete": ("有场次未结束或未评完", "sessions open or not wholly judged"),
    "gate_answered": ("有模型作答过少", "a candidate answered too few of its questions"),
    "gate_unparsed": ("无法读出的评判过多", "too many judgements that nobody could read"),
    "gate_reference": (
        "参照模型的作答未由同一裁判评分",
        "answers of the reference not judged by the judge that counts",
    ),
    "gate_discipline": ("有模型缺少学科，没有总分", "a candidate without a discipline has no S"),
    "gate_agreement": ("裁判与人工评分一致性不足", "the judge agrees too little with people"),
    "gate_ratings": ("校准所依据的人工评分过少", "the calibration rests on too few ratings"),
    "edition": ("版次", "Edition"),
    "editions": ("发布记录", "What was published"),
    "revision": ("修订", "Revision"),
    "published_at": ("发布日期", "Published on"),
    "replaces": ("更正了", "corrects"),
    "is_current": ("现行", "current"),
    "is_replaced": ("已被更正，仍可查询", "corrected since; still kept"),
    "repetition": ("当月复测", "REPETITION"),
    "repetition_about": (
        "当月已有一次考试，这是又一次；两次并列，互不取代。",
        "The month had an earlier run; this one stands beside it and replaces nothing.",
    ),
    "place_without_score": ("没有总分：缺少学科", "no score: a discipline is missing"),
    "place_uncompared": ("无法比较", "no comparison"),
    "place_first": ("确定第一", "first beyond doubt"),
    "place_certain": ("名次确定", "rank certain"),
    "place_shared_with_one": ("与另外 1 个模型无法区分", "not distinguishable from 1 other"),
    "place_shared": ("与另外 {count} 个模型无法区分", "not distinguishable from {count} others"),
    "neighbours": ("相邻名次能否区分", "Can neighbours be told apart?"),
    "neighbours_about": (
        "按 S 排列的相邻两个模型之差；在两者都考过的题目上配对比较，p 值按当月全部两两比较作 Holm 校正（5%）。",
        "Differences between neighbours in the order of S, on the questions that both sat; p corrected over all pairs of the "
        "month (Holm, 5%).",
    ),
    "pair": ("两个模型", "Pair"),
    "difference": ("S 之差（95% 区间）", "Difference of S (95% interval)"),
    "p_holm": ("p（Holm）", "p (Holm)"),
    "verdict": ("结论", "Verdict"),
    "verdict_alike": ("两者无法区分", "not distinguishable"),
    "verdict_apart": ("可以区分", "distinguishable"),
    "verdict_none": ("无法比较", "no comparison"),
    "standing": ("当前总榜", "Current standing"),
    "standing_about": (
        "所有参加过的模型，各取最近一次；按等值分排列，没有等值分的按 S。标记说明它与最近一月的成绩怎样可比。",
        "Every candidate that was ever published, with its latest edition; ranked by the equated score, by S where there is "
        "none. The badge says how it compares with the latest month.",
    ),
    "standing_score": ("总榜分", "Standing"),
    "sat_month": ("最近一次考试", "Last sat"),
    "comparability": ("可比性", "Comparability"),
    "same_edition": ("同一版次", "same edition"),
    "same_edition_about": ("参加了最近一月的考试", "sat in the latest month"),
    "anchors": ("锚题相连", "linked by anchors"),
    "anchors_about": (
        "题集不同，通过重复使用的题目等值",
        "other questions, linked by those that were asked again",
    ),
    "same_reference": ("同一参照", "same reference"),
    "same_reference_about": (
        "题集不同，参照模型相同；题目难度可能不同",
        "other questions, the same reference; they may be harder or easier",
    ),
    "none": ("不可比", "not comparable"),
    "none_about": ("没有共同的题目或参照，不排名", "no questions and no reference in common: no rank"),
    "equated_apart": ("与 S 不一致", "differs from S"),
    "equated_apart_about": (
        "两者之差超出误差：本月题目可能偏难或偏易，或模型不适合这些作答。",
        "They differ by more than their errors allow: this month's questions may be harder or easier, or the model of the "
        "answers does not fit.",
    ),
    "score_change": ("较上次（95% 区间）", "Change (95% interval)"),
    "change_certain": ("变化确定", "moved"),
    "change_uncertain": ("可能没有变化", "may not have moved"),
    "reference_mark": ("参照", "reference"),
    "empty": (
        "还没有发布任何结果。评完并发布（proctor publish）一轮之后再生成报告。",
        "Nothing has been published yet. Judge a run and publish it (proctor publish), then render the report again.",
    ),
    "sort_hint": ("点击表头排序", "Click a heading to sort"),
    "about_s": (
        "S：每题 0–3 星，得星占满星的比例乘 100，各学科按固定权重，各次重复取平均。没有任何裁判或人能读出评判的作答仍计入 N，得 0 星，"
        "并列出数目。",
        "S: 0 to 3 stars per question, as a share of all stars times 100, disciplines in fixed weights, repeats averaged. An "
        "answer whose judgement no judge and no person could read stays in N and earns nothing; such answers are counted.",
    ),
    "about_interval": (
        "95% 区间是换一批同样抽取的题目时 S 的误差；重复间标准差是模型自身的随机性，不是误差。",
        "The 95% interval is the error of S from having drawn these questions and no others; the sd of repeats is the "
        "candidate's own randomness, not that error.",
    ),
    "about_rank": (
        "名次范围：数据不能排除的名次。组：每组从最好的一个开始，到最后一个与它无法区分的为止；排在后一组的，与前面各组中最好的一个能够区分"
        "（全月两两比较，Holm，5%）。",
        "Rank range: the ranks that the data do not rule out. Group: it begins with its best candidate and ends after the last "
        "one that cannot be told from it; whoever stands in a lower group is distinguishable from the best of every higher "
        "one (all pairs of the month, Holm, 5%).",
    ),
    "about_equated": (
        "等值分：按分级反应模型，换算到第一期题库上的预期 S，使不同题集、不同月份可比；它列在 S 旁边，不代替 S；若某学科迄今不足八题或拟合不收敛，则不列出（–）。",
        "Equated: the S to be expected on the first season's bank, by a graded response model with anchors, so that sets and "
        "months compare; it stands beside S, never instead of it. It is left out (–) where a discipline has had fewer than eight "
        "questions so far, or its fit does not converge.",
    ),
    "about_frozen": (
        "发布的分数不再改变。更正以新的修订发布，旧版保留。",
        "What was published never changes. A correction is a new revision; the old one is kept.",
    ),
    "about_r": (
        "R：同一批题目、同一提示方式下，与参照模型总星数之比乘 100。",
        "R: stars over those of the reference on the same questions under the same prompt style, times 100.",
    ),
    "about_disciplines": (
        "学科分为 0–10 分制；十个学科题量相同时，其和等于 S。",
        "Disciplines are scored 0 to 10; in equal shares the ten add up to S.",
    ),
    "heatmap_about": (
        "每格为该模型在该学科的得分（0–10），按名次排列。",
        "Each cell is a candidate's score (0 to 10) in a discipline, in order of rank.",
    ),
    "trend_about": (
        "各模型每月的零样本 S 及 95% 区间；没有考试的月份没有点。",
        "Zero-shot S of each candidate by month with its 95% interval; a month without a session has no point.",
    ),
    "release_about": (
        "各模型最近一次的零样本 S 与发布日期；曲线为拟合结果。",
        "Each candidate's latest zero-shot S by release date, with the fitted curve.",
    ),
    "curve_linear": ("直线", "straight line"),
    "curve_logistic": ("逻辑斯谛曲线", "logistic curve"),
    "shown_best": ("图中为最近一月的前 {count} 名", "Shown: the first {count} of the latest month"),
    "prompt_version": ("提示词版本", "Prompt"),
    "occasion": ("校准场合", "Occasion"),
    "calibration": ("裁判与人工评分的一致性", "Judges against people"),
    "round": ("轮次", "Round"),
    "mean_kappa": ("平均 κ（不加权）", "Mean κ (unweighted)"),
    "candidate_count": ("模型数", "Candidates"),
    "external": ("与其他评测的相关性", "Agreement with other benchmarks"),
    "benchmark": ("评测", "Benchmark"),
    "spearman_rho": ("Spearman ρ", "Spearman ρ"),
    "p_value": ("p 值", "p"),
    "pages": ("页面", "Pages"),
    "skip_to_content": ("跳到正文", "Skip to the content"),
    "theme_light": ("浅色", "Light"),
    "theme_dark": ("深色", "Dark"),
    "panel_empty": ("还没有数据。由以下命令产生：", "Nothing yet. Filled by:"),
    "figure_needs_script": (
        "图需要 JavaScript；同样的数在表里。",
        "The figure needs JavaScript; the table has the same numbers.",
    ),
    "more_about_it": ("详情", "More about it"),
    "generated": ("生成时间", "Generated"),
    "download": ("下载数据（CSV）", "Download the data (CSV)"),
    "candidates": ("个参评模型", "candidates"),
    "table_view": ("数据表", "Data"),
    "gscore_title": ("文本生成评测（Gscore）", "Generated text (Gscore)"),
    "gscore_profile": ("口径", "Profile"),
    "similarity_model": ("语义相似度模型", "Similarity model"),
    "gscore_unscored": (
        "{count} 条作答没有 Gscore（缺少语义相似度模型，或尚未作答），不计入均值。",
        "{count} answers have no Gscore (no similarity model, or not answered yet); they are in no mean.",
    ),
    "bleu4": ("BLEU-4", "BLEU-4"),
    "rouge2": ("ROUGE-2", "ROUGE-2"),
    "chrf": ("chrF", "chrF"),
    "similarity": ("语义相似度", "Similarity"),
    "accuracy": ("计算题正确率", "Accuracy"),
    "accuracy_unordered": ("不计次序", "any order"),
    "accuracy_symbolic": ("数值相等", "equal value"),
    "step_chrf": ("步骤 chrF", "Steps' chrF"),
    "item_count": ("题数", "Items"),
    "unscored_count": ("无 Gscore", "Without Gscore"),
    "category": ("科目类别", "Category"),
    "subject": ("子科目", "Subject"),
    "by_subject": ("各子科目", "By subject"),
    "by_kind": ("各题型", "By kind of item"),
    "item_kind": ("题型", "Kind"),
    "kind_definition": ("名词解释", "definition"),
    "kind_short_answer": ("简答题", "short answer"),
    "kind_calculation": ("计算求解", "calculation"),
    "kind_arithmetic": ("小学计算", "arithmetic"),
    "human_agreement": ("与人工评分的一致性", "Agreement with people"),
    "metric": ("指标", "Metric"),
    "about_gscore": (
        "Gscore = 0.2·BLEU-4 + 0.25·ROUGE-2 + 0.25·chrF + 0.3·语义相似度，各项乘以 100；计算题看最终答案，答错时步骤最多得 30 分。"
        "口径或相似度模型不同的分数不可比较。",
        "Gscore = 0.2 BLEU-4 + 0.25 ROUGE-2 + 0.25 chrF + 0.3 similarity, each times 100; calculations are scored by their "
        "final answer, a wrong one gets up to 30 for its steps. Scores of another profile or similarity model cannot be compared.",
    ),
    "about_gscore_overall": (
        "总分为各科目类别的不加权平均；有一个类别没有 Gscore 时不给总分。",
        "The overall score is the unweighted mean of the categories; where one has no Gscore there is none.",
    ),
    "Philosophy": ("哲学", "Philosophy"),
    "Economics": ("经济学", "Economics"),
    "Law": ("法学", "Law"),
    "Education": ("教育学", "Education"),
    "Literature": ("文学", "Literature"),
    "History": ("历史学", "History"),
    "Science": ("理学", "Science"),
    "Engineering": ("工学", "Engineering"),
    "Agronomy": ("农学", "Agronomy"),
    "Medicine": ("医学", "Medicine"),
    "Military Science": ("军事学", "Military Sci."),
    "Management": ("管理学", "Management"),
    "Arts": ("艺术学", "Arts"),
}


# Column heads of the leaderboard, where ten whole names would not fit.
SHORT_DISCIPLINES: dict[str, tuple[str, str]] = {
    "Economics": ("经济", "Econ."),
    "Law": ("法学", "Law"),
    "Education": ("教育", "Edu."),
    "Literature": ("文学", "Lit."),
    "History": ("历史", "Hist."),
    "Science": ("理学", "Sci."),
    "Engineering": ("工学", "Eng."),
    "Medicine": ("医学", "Med."),
    "Military Science": ("军事", "Mil."),
    "Management": ("管理", "Mgmt."),
}


def label(key: str, language: Language) -> str:
    """The word for `key`; raises UsageError for a language that the report does not speak."""
    if language not in ("zh", "en"):
        raise UsageError(f"The report speaks zh and en, not {language!r}.")
    zh, en = LABELS[key]
    return zh if language == "zh" else en
