"""Settings: `PROCTOR_*` variables, then the nearest `proctor.toml`, then the defaults here."""

from __future__ import annotations

import json
import os
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from schemas.asked_secrets import AskedSecret
from schemas.errors import UsageError, suggest
from schemas.organisations import TEAM_NAMES, is_team_name
from schemas.vocabulary import DISCIPLINES, EXAMINED_DISCIPLINES, PROMPT_STYLES

PREFIX = "PROCTOR_"
HOME_NAME = ".proctor"
TOML_NAME = "proctor.toml"
# Where it lies elsewhere: set for what this home starts in the background, whose working folder is another.
TOML_VARIABLE = "PROCTOR_CONFIG"
SHARED_VARIABLE = "PROCTOR_SHARED"
# Set for commands that `proctor start` runs: what comes next is the guide's to say.
GUIDED_VARIABLE = "PROCTOR_GUIDED"
# Variables that the code reads and that are no settings. Names with one of the endings are free: tests read the first,
# a model registry may name the second.
OTHER_VARIABLES = frozenset(
    {
        TOML_VARIABLE,
        GUIDED_VARIABLE,
        "PROCTOR_QUIET",
        "PROCTOR_SEED",
        "PROCTOR_SHARED_DATA",
        "PROCTOR_SIMULATED_URL",
        "PROCTOR_SOFFICE",
        "PROCTOR_WORKER",
    }
)
FREE_PREFIX = "PROCTOR_TEST_"
FREE_SUFFIX = "_KEY"
# A home of which everything lies elsewhere (servers, shared folders) is known by this file alone.
HOME_MARK = "proctor-home.txt"
# One of these lies in every home that `proctor init` made, or that was restored from a backup.
HOME_CONTENTS = ("ledger.sqlite", "lake", "models.yaml", "secrets", HOME_MARK)


# What no token may outlive, whatever is set.
LONGEST_LIFE_S = 366 * 86_400
# A deadline is a date, and dates end with the year 9999.
_MOST_DAYS = 1_000_000
# Characters that are kept of a reply: a book's chapter of a model that we call, and more of an answer to the exam.
LONGEST_REPLY = 262_144
LONGEST_RESPONSE = 1_000_000
_Name = TypeVar("_Name", bound=str)


def _split(value: Any) -> Any:
    """Names as people write them: `a, b`; a JSON list is one, too."""
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        return json.loads(value)
    return [name.strip() for name in value.split(",") if name.strip()]


def _take_one(value: Any) -> Any:
    """One program or address as it stands, commas and all; a JSON list is several."""
    if isinstance(value, str) and not value.lstrip().startswith("["):
        return [value] if value.strip() else []
    return _split(value)


def _read_table(value: Any) -> Any:
    """A JSON object as it is meant."""
    if not isinstance(value, str):
        return value
    if not value.lstrip().startswith("{"):
        raise ValueError('it is a JSON object, such as {"Law": 3}')
    return json.loads(value)


def _check_known(known: tuple[str, ...]) -> AfterValidator:
    def check(names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in known:
                listed = f" There are {', '.join(known)}"
                raise ValueError(f"there is no {name!r}.{suggest(name, known) or listed}")
        return names

    return AfterValidator(check)


def _check_team(name: str) -> str:
    if not is_team_name(name):
        raise ValueError(f"{name!r} is no name of a team. {TEAM_NAMES}")
    return name


TeamName = Annotated[str, AfterValidator(_check_team)]
# A list of names; in the environment `a,b`, in proctor.toml that or a list. One that stands there twice would count twice.
Names = Annotated[
    tuple[_Name, ...],
    NoDecode,
    BeforeValidator(_split),
    AfterValidator(lambda names: tuple(dict.fromkeys(names))),
]
# Values by name; in the environment a JSON object, in proctor.toml a table.
_Of = TypeVar("_Of")
Table = Annotated[dict[_Name, _Of], NoDecode, BeforeValidator(_read_table)]
# Programs and addresses; in the environment one or a JSON list, in proctor.toml that or a list.
Recipients = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_take_one)]


def _take_secret(value: Any) -> Any:
    """A secret that code gives, as a setting holds it."""
    return value.get_secret_value() if type(value) is SecretStr else value


# A secret itself, or `command:PROGRAM`: whose program prints it.
Secret = Annotated[
    AskedSecret, BeforeValidator(_take_secret), PlainSerializer(str, return_type=str, when_used="json")
]


class Settings(BaseSettings):
    """Everything that can be set. Paths that are not given lie under `home`."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, extra="forbid", hide_input_in_errors=True, frozen=True, allow_inf_nan=False
    )

    home: Path = Field(Path(HOME_NAME), description="Folder of all state.")
    ledger_url: Secret | None = Field(
        None, description="SQLAlchemy URL of the ledger; default SQLite under home."
    )
    exam_database_url: Secret | None = Field(
        None,
        description="SQLAlchemy URL by which `proctor exam serve` opens the exam's database, and nothing else; default the file "
        "beside an SQLite ledger.",
    )
    lake_catalog: Secret | None = Field(
        None, description="DuckLake catalog, `sqlite:PATH` or `postgres:DSN`; default SQLite under home."
    )
    lake_data: str | None = Field(None, description="Folder or s3:// prefix of the lake's Parquet files.")
    shared: Path | None = Field(
        None,
        description="Folder that the hosts of an installation share: of its registry, keys, archive and what is for publication, where "
        "these are not set themselves; default the home.",
    )
    registry: Path | None = Field(None, description="Model registry; default `models.yaml` under shared.")
    secrets: Path | None = Field(
        None, description="Folder of the installation's keys; default `secrets` under shared."
    )
    archive: Path | None = Field(
        None, description="Folder of the archived originals; default `archive` under shared."
    )
    exam_pictures: Path | None = Field(
        None,
        description="Folder into which planning copies the pictures that candidates see, for an exam API without the archive; default the "
        "archive.",
    )
    public: Path | None = Field(
        None, description="Folder of what is for publication; default `public` under shared."
    )
    backups: Path | None = Field(
        None,
        description="Folder, outside the home, into which a backup is made every night; none is made where it is not set.",
    )
    keep_daily: int = Field(7, ge=1, description="Backups that are kept: the last of so many days.")
    keep_weekly: int = Field(4, ge=0, description="The last of so many weeks, beside those.")
    keep_monthly: int = Field(3, ge=0, description="The last of so many months, beside those.")

    review_count: int = Field(2, ge=1, description="Reviews per question.")
    review_due_days: int = Field(30, ge=1, description="Days an annotator has.")
    review_daily_quota: int = Field(
        50, ge=1, description="Questions an annotator is given per day of the window."
    )
    review_gold_share: float = Field(
        0.0,
        ge=0,
        le=0.5,
        description="Questions with a known decision among an annotator's work, as a share of it; none by default.",
    )
    smtp_host: str | None = Field(
        None, description="Mail server for `proctor review remind --send`; no mail leaves without it."
    )
    smtp_port: int = Field(587, ge=1, le=65535, description="Its port.")
    smtp_security: Literal["starttls", "tls", "none"] = Field(
        "starttls", description="How the connection to it is encrypted."
    )
    smtp_user: str | None = Field(None, description="Account at the mail server; null signs in nowhere.")
    smtp_password: Secret | None = Field(None, description="Its password.")
    smtp_sender: str | None = Field(None, description="Address that letters come from; default the account.")
    sign_in: Names[str] = Field(
        ("password",),
        min_length=1,
        description="How people sign in at the web desk: kinds of sign-in, in the order in which the page offers them.",
    )
    sign_in_options: Table[str, dict[str, Secret]] = Field(
        {}, description="Options of each kind of sign-in, by its name."
    )
    sign_in_admits: bool = Field(
        False,
        description="Whether somebody who is recognised and has no account gets one, as an annotator of no discipline who is given nothing.",
    )
    sign_in_roles: Table[str, Literal["admin", "examiner", "annotator", "analyst"]] = Field(
        {},
        description="Roles by the claims of a kind of sign-in, the first that fits at each sign-in; somebody without such a claim is an "
        "annotator of no discipline. Without it, roles are given here alone.",
    )
    sign_in_teams: Table[str, TeamName] = Field(
        {},
        description="Teams by the claims of a kind of sign-in, all that fit at each sign-in: their members see the models that the registry "
        "gives to the team.",
    )
    teams: Table[TeamName, tuple[str, ...]] = Field(
        {}, description="Members of teams by their accounts, beside those whom `sign_in_teams` finds."
    )
    web_url: str | None = Field(
        None, description="Address at which browsers reach the web desk; for sign-in by way of another site."
    )
    variant_sample_share: float = Field(
        0.05, gt=0, le=1, description="Share of a model's variants that people review before any is used."
    )
    variant_failure_gate: float = Field(
        0.05,
        ge=0,
        lt=1,
        description="Share of that sample that may fail; above it the batch is refused as a whole.",
    )
    hold_least_right: float = Field(
        0.5,
        ge=0,
        le=1,
        description="A paper of which a smaller share is expected to be read right is held whole; 0 holds none for that.",
    )
    hold_most_broken: float = Field(
        0.5,
        ge=0,
        le=1,
        description="A paper is held whole where its reading breaks what it says of itself for a larger share of its questions; 1 "
        "holds none for that.",
    )
    near_duplicate_jaccard: float = Field(
        0.8, gt=0, le=1, description="Jaccard of character 3-grams that is a duplicate."
    )

    disciplines: Annotated[Names[str], _check_known(DISCIPLINES)] = Field(
        EXAMINED_DISCIPLINES,
        description="Disciplines that are examined, with commas; S is the mean of these, each with the same weight.",
    )
    set_size: int = Field(1000, ge=1, description="Lineages in a set.")
    set_shares: Table[str, int] = Field(
        {},
        description="Lineages of each discipline in a set, one number for every discipline that is examined, in place of equal shares of "
        "set_size; `proctor exam plan --target-se` proposes them.",
    )
    repeats: int = Field(3, ge=1, le=100, description="Independent repeats per candidate.")
    prompt_styles: Annotated[Names[str], _check_known(PROMPT_STYLES)] = Field(
        PROMPT_STYLES, description="Styles sat, with commas."
    )
    set_policy: Literal["shared", "unique"] = Field("shared", description="How sets are given out.")
    set_groups: int = Field(
        2,
        ge=1,
        description="Groups of organisations that share sets, at most; with 1 no new set can have anchors where all sit in the same months.",
    )
    cap_small_disciplines: bool = Field(
        True,
        description="Give a small discipline a smaller share of a set, never a smaller weight; refuse otherwise.",
    )
    lasting_sets: int = Field(
        36, ge=1, description="Sets that a small discipline is to last for an organisation."
    )
    least_share: int = Field(10, ge=1, description="Least questions of a discipline in a set.")
    anchor_share: float = Field(
        0.2, ge=0, le=0.5, description="Share of a new set that other organisations have answered before."
    )
    reexamine_every: int = Field(3, ge=1, description="Months after which a candidate is examined again.")
    reexamine_reference_every: int = Field(1, ge=1, description="The same for the reference candidate.")
    picture_share: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the questions of a discipline, of those that a run can draw, that may have pictures; with 0 none is drawn.",
    )
    rest_months: int | None = Field(
        None, description="Months after which a lineage may return; never by default."
    )
    rest_exposed: int | None = Field(
        None,
        ge=1,
        description="Organisations that have met a lineage, from which on it rests: no new set has it while others are left.",
    )
    reference_model: str | None = Field(
        None, description="The reference candidate; overrides the registry's."
    )
    judges: Names[str] = Field(
        (), description="Judges, in the order in which they are asked; default those of the registry."
    )
    budget_usd: float | None = Field(None, ge=0, description="Budget of a run; no limit by default.")

    unparsed_gate: float = Field(
        0.005,
        ge=0,
        le=0.01,
        description="Share of a candidate's answers with unreadable judgements above which nothing is published.",
    )
    answered_gate: float = Field(
        0.98,
        ge=0,
        le=1,
        description="Share of a candidate's questions that must be answered; below it for any candidate nothing is published.",
    )
    judge_agreement_gate: float = Field(
        0.8,
        ge=-1,
        le=1,
        description="Mean kappa with people below which a calibrated judge publishes nothing.",
    )
    judge_ratings_gate: int = Field(
        400, ge=0, description="Rated responses below which a calibration counts as too small."
    )
    judge_controls: int = Field(
        60,
        ge=0,
        le=600,
        description="Control answers that every judge of a run is given, unknown to it; with fewer than 30 it cannot show that it can judge.",
    )
    control_wrong_gate: float = Field(
        0.05,
        ge=0,
        lt=1,
        description="Share of a judge's control answers that may be judged wrong; nothing is published where the lower end of its interval "
        "is above.",
    )
    key_disagreement_gate: float = Field(
        0.1,
        ge=0,
        lt=1,
        description="Share of answers decided by a key on which a judge may say something else; nothing is published where the lower end "
        "of its interval is above.",
    )
    lease_s: float = Field(60.0, gt=0, description="Seconds a session's lease lasts without a call.")
    session_days: float = Field(
        14.0,
        gt=0,
        le=_MOST_DAYS,
        description="Days after the planning in which a session must be finished; then it is closed.",
    )
    question_s: float = Field(
        3600.0,
        gt=0,
        le=_MOST_DAYS * 86_400,
        description="Seconds in which an outside candidate must answer a question that it was handed.",
    )
    witnesses: Recipients = Field(
        (),
        description="Who keeps the heads of the public log: files elsewhere, and `command:PROGRAM` for programs that get one.",
    )
    drand_url: str = Field(
        "https://api.drand.sh",
        description="Where `proctor exam draw` asks for a round of drand; any mirror will do, its answer is checked by its signature.",
    )
    log_signer: str | None = Field(
        None,
        pattern=r"^(agent(:.+)?|command:.+)$",
        description="Who signs heads and receipts in place of a key in the home: `agent` (the SSH agent of SSH_AUTH_SOCK), `agent:SOCKET`, "
        "or `command:PROGRAM`, which gets the bytes and prints the signature.",
    )
    log_public_key: str | None = Field(
        None,
        description="The public key with which it signs: as OpenSSH writes it, PEM, or 32 bytes in base64.",
    )
    keep_raw_months: int | None = Field(
        None,
        ge=1,
        description="Months after its last edition that the texts of a run's answers are kept, by `proctor erase --policy`; null keeps "
        "them for ever. Runs do not borrow older answers of the reference, which answers again.",
    )
    objection_days: int = Field(
        30,
        ge=0,
        description="Days after an edition in which its texts can not be erased: so long anybody may object to it.",
    )
    notify: Recipients = Field(
        (),
        description="Who is told of failed runs: `command:PROGRAM` gets JSON on its standard input, an https address a POST of it.",
    )
    store_wait_s: float = Field(
        600.0,
        ge=0,
        description="Seconds that a store which does not answer (PostgreSQL, object store, Prefect's server), or the exam API, is waited for; 0: not at all.",
    )
    log_format: Literal["text", "json"] = Field(
        "text",
        description="Form of what servers write: lines for people, or JSON. The log in the home is JSON.",
    )
    metrics_token: Secret | None = Field(
        None,
        description="What a reader of metrics shows (`Authorization: Bearer …`); without it they are given to this host alone.",
    )
    pending_window: int = Field(
        1, ge=1, description="Questions that may be pending at once (more only in house)."
    )
    call_timeout_s: float = Field(600.0, gt=0, description="Time limit of one LLM call.")
    batch_poll_s: float = Field(
        30.0, gt=0, description="Seconds between two looks at batches that a command waits for."
    )
    longest_reply: int = Field(
        LONGEST_REPLY,
        ge=1_000,
        le=LONGEST_RESPONSE,
        description="Characters that are kept of a reply, and of the reasoning before it, of a model that is called; a longer one is "
        "cut, with size and SHA-256 of the whole.",
    )
    longest_response: int = Field(
        LONGEST_RESPONSE,
        ge=1_000,
        le=LONGEST_RESPONSE,
        description="The same for an answer to the exam, of a model that is called and of what a candidate sends itself.",
    )
    call_concurrency: int = Field(32, ge=1, description="LLM calls in flight per provider.")
    exam_door: Literal["direct", "http"] = Field(
        "direct", description="How in-house runs reach the exam protocol."
    )
    exam_url: str = Field("http://127.0.0.1:8700", description="Exam API, for the http door.")
    token_ttl_s: int = Field(12 * 3600, ge=1, description="Life of a token.")
    token_longest_s: int = Field(
        14 * 86_400,
        ge=1,
        le=LONGEST_LIFE_S,
        description="Longest life of a token, in seconds, whatever was asked.",
    )

    similarity_model: str = Field(
        "BAAI/bge-large-zh-v1.5", description="Embedding model of Gscore: name or folder."
    )
    two_persons: Names[Literal["plan", "release", "retire", "override"]] = Field(
        (),
        description="What needs a second person: `plan`, `release`, `retire`, `override`; nothing by default (`proctor approvals`).",
    )
    approval_days: int = Field(
        7, ge=1, description="Days that a request waits for a second person, and an approval for being used."
    )
    workers: int = Field(2, ge=1, description="Documents that an ingest reads at once.")
    second_reader: str | None = Field(
        None,
        description="Registered model that every ingest has read what the rules may have read wrongly: the text goes to it. None by default.",
    )
    no_server: bool = Field(False, description="Run flows as plain Python, without a Prefect server.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, then `proctor.toml`."""
        return init_settings, env_settings, _TomlSource(settings_cls, find_toml())

    def choose_reader(self, named: str | None) -> str | None:
        """Which model reads papers: who is named, else the setting's; `none` is nobody."""
        name = named or self.second_reader
        return None if name in ("", "none") else name

    @property
    def ledger_address(self) -> str:
        """SQLAlchemy URL of the ledger."""
        if self.ledger_url is not None:
            return self.ledger_url.get_secret_value()
        return f"sqlite:///{self.home.resolve() / 'ledger.sqlite'}"

    @property
    def catalog_address(self) -> str:
        """DuckLake catalog, `sqlite:PATH` or `postgres:DSN`."""
        if self.lake_catalog is not None:
            return self.lake_catalog.get_secret_value()
        return f"sqlite:{self.home.resolve() / 'lake' / 'catalog.sqlite'}"

    @property
    def data_address(self) -> str:
        """Folder or prefix of the lake's files."""
        return self.lake_data or str(self.home.resolve() / "lake" / "data")

    @property
    def shared_dir(self) -> Path:
        """Where what the hosts of an installation have alike lies, unless it is set by itself."""
        return self.shared or self.home

    @property
    def registry_path(self) -> Path:
        """The registry file."""
        return self.registry or self.shared_dir / "models.yaml"

    @property
    def secrets_path(self) -> Path:
        """Where the keys of the installation lie."""
        return self.secrets or self.shared_dir / "secrets"

    @property
    def archive_dir(self) -> Path:
        """Where originals lie by content hash, with their TXT and JSON."""
        return self.archive or self.shared_dir / "archive"

    @property
    def exam_pictures_dir(self) -> Path:
        """Where the exam API finds the pictures that candidates see."""
        return self.exam_pictures or self.archive_dir

    @property
    def disciplines_path(self) -> Path:
        """What papers are about, as somebody has said for every ingest into this home."""
        return self.shared_dir / "disciplines.yaml"

    @property
    def public_dir(self) -> Path:
        """Where what is for publication lies: the public log, and the files that it names."""
        return self.public or self.shared_dir / "public"

    @property
    def pages_dir(self) -> Path:
        """Pictures of the originals' pages, made again when they are missing."""
        return self.home / "pages"


def _list_paths() -> list[str]:
    """The settings that name a file or folder."""
    fields = Settings.model_fields.items()
    return [name for name, one in fields if one.annotation in (Path, Path | None) or name == "lake_data"]


def resolve_variables(settings: Settings) -> dict[str, str]:
    """The variables that name a file or folder, each as it is meant from here.

    They are for what is started in another working folder: a relative path would be another one there.
    """
    given = {name.upper() for name in os.environ}
    found = {f"{PREFIX}{name.upper()}": getattr(settings, name) for name in _list_paths()}
    return {
        variable: str(Path(value).resolve())
        for variable, value in found.items()
        if variable in given and value is not None and "://" not in str(value)
    }


class _TomlSource(TomlConfigSettingsSource):
    """`proctor.toml`, whose relative paths start from the folder that it lies in."""

    def _read_file(self, file_path: Any) -> dict[str, Any]:
        values = super()._read_file(file_path)
        for name in _list_paths():
            value = values.get(name)
            if isinstance(value, str) and "://" not in value and file_path.parent != Path.cwd():
                values[name] = str(file_path.parent / Path(value).expanduser())
        return values


class GivenSettings(Settings):
    """Settings of somewhere else, as a backup: arguments and defaults, nothing of here."""

    # Most commands need none: its validators are built where they are first used.
    model_config = SettingsConfigDict(defer_build=True)

    @classmethod
    def settings_customise_sources(
        cls, settings_cls: type[BaseSettings], init_settings: PydanticBaseSettingsSource, *_: Any, **__: Any
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The arguments alone."""
        return (init_settings,)


@lru_cache(maxsize=1)
def load_settings() -> Settings:
    """The settings of this process.

    Without PROCTOR_HOME the home is the nearest folder `.proctor`, here or above; where there is none, it is the one that
    `proctor init` would make here. Raises UsageError naming the setting that is wrong, or a variable that is none.
    """
    _check_variables()
    try:
        settings = Settings()
    except ValidationError as error:
        raise _explain(error) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise _refuse_toml(str(error)) from None
    if "home" in settings.model_fields_set:
        return settings
    found = find_upwards(HOME_NAME)
    return settings if found is None else settings.model_copy(update={"home": _shorten(found)})


def read_setting(name: str, text: str) -> Any:
    """The value that a setting would have; raises UsageError for a name or a value that is none."""
    if name not in Settings.model_fields:
        raise _refuse_name(name)
    try:
        return getattr(Settings.model_validate({name: text}), name)
    except ValidationError as error:
        raise _explain(error) from None


def _explain(error: ValidationError) -> UsageError:
    first = error.errors(include_input=False, include_url=False)[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        return _refuse_name(name, f"{find_toml()}: ")
    what = first["msg"].removeprefix("Value error, ").rstrip(".")
    if not name:
        return _refuse_toml(what)
    end = "" if what.endswith("?") else "."
    return UsageError(
        f"Setting {name!r} ({PREFIX}{str(first['loc'][0]).upper()} or {TOML_NAME}): {what}{end} Correct it and run again."
    )


def _refuse_name(name: str, place: str = "") -> UsageError:
    hint = suggest(name, Settings.model_fields) or " `proctor settings` lists them."
    return UsageError(f"{place}There is no setting {name!r}.{hint}")


def _refuse_toml(what: str) -> UsageError:
    return UsageError(f"{find_toml()} is no TOML in UTF-8: {what}. Correct it and run again.")


def find_toml() -> Path | None:
    """The file `proctor.toml` that holds.

    It is that of PROCTOR_CONFIG, else the nearest, else that of PROCTOR_SHARED, for all its hosts.

    Raises UsageError where it is no file: what is set there, as a budget, must not be dropped without a word.
    """
    named = os.environ.get(TOML_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise UsageError(f"{TOML_VARIABLE} names {named}, which is no file. Correct it, or unset it.")
        return Path(named)
    of_hosts = Path(os.environ.get(SHARED_VARIABLE, ""), TOML_NAME)
    found = find_upwards(TOML_NAME) or (of_hosts if os.path.lexists(of_hosts) else None)
    if found is not None and not found.is_file():
        raise UsageError(
            f"{found} is no file, or a link to what is not there (is its disk mounted?). Put it back, or take it away."
        )
    return found


def find_upwards(name: str) -> Path | None:
    """The nearest file, folder or link of that name; UsageError where this folder is gone."""
    try:
        here = Path.cwd()
    except FileNotFoundError:
        raise UsageError(
            "The working folder is no longer there. Go to another one (cd), then run again."
        ) from None
    return next((folder / name for folder in (here, *here.parents) if os.path.lexists(folder / name)), None)


def is_home(folder: Path) -> bool:
    """Whether the folder holds what `proctor init` makes."""
    return any((folder / name).exists() for name in HOME_CONTENTS)


def _shorten(home: Path) -> Path:
    """The home in the working folder by its name alone; one above by its whole path."""
    return Path(home.name) if home.parent == Path.cwd() else home


def _check_variables() -> None:
    """Refuse a variable that nothing reads: a misspelt budget would be no budget."""
    settings = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    for name in sorted(os.environ):
        is_ours = name.upper().startswith(PREFIX) and not name.startswith(FREE_PREFIX)
        if not is_ours or name.upper() in settings | OTHER_VARIABLES or name.endswith(FREE_SUFFIX):
            continue
        near = suggest(name, sorted(settings | OTHER_VARIABLES))
        raise UsageError(
            f"The variable {name} is no setting of Proctor.{near} Correct the name, or unset it."
        )
