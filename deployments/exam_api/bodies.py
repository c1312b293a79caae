"""What the exam API takes and gives, as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, StringConstraints

from schemas.vocabulary import DISCIPLINES, GIVEN_STATUSES

_LARGEST_INT = 2**31 - 1

Name = Annotated[str, StringConstraints(min_length=1, max_length=120, pattern=r"^[^\x00-\x1f\x7f]+$")]
SessionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,80}$")]
Count = Annotated[int, Field(ge=0, le=_LARGEST_INT)]
PlaceNumber = Annotated[int, Field(ge=1, le=_LARGEST_INT)]
Amount = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)]
LeaseSecret = Annotated[str, StringConstraints(min_length=32, max_length=200, pattern=r"^[A-Za-z0-9_.~-]+$")]


def _check_storable(password: SecretStr) -> SecretStr:
    """A password that has bytes: half of a surrogate pair, which JSON can hold, has none."""
    password.get_secret_value().encode()
    return password


def _check_discipline(name: str) -> str:
    if name not in DISCIPLINES:
        raise ValueError("unknown")
    return name


Password = Annotated[SecretStr, AfterValidator(_check_storable)]
Discipline = Annotated[
    str, AfterValidator(_check_discipline), Field(json_schema_extra={"enum": list(DISCIPLINES)})
]


class _Body(BaseModel):
    """Unknown fields are refused, and no message repeats what was sent."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, strict=True)


class ErrorBody(_Body):
    """Any refusal: a stable word for programs, a sentence for people."""

    code: str
    message: str


class Health(_Body):
    """The server answers."""

    status: Literal["ok"] = "ok"


class TokenRequest(_Body):
    """A user's name and password, and the session that the token is for."""

    user_id: Name
    password: Password = Field(min_length=1, max_length=200)
    session_id: SessionId | None = None


class KeyRequest(_Body):
    """A candidate's password and Ed25519 public key.

    The candidate's answers are signed with this key from now on.
    """

    password: Password = Field(min_length=1, max_length=200)
    public_key: str = Field(min_length=1, max_length=2000)


class EnrolledKey(_Body):
    """The key that a candidate's answers must be signed with: 32 bytes in base64."""

    user_id: str
    public_key: str


class LogKeyBody(_Body):
    """The installation's key for receipts and heads of the audit log.

    It is an Ed25519 key: 32 bytes in base64.
    """

    key_id: str
    public_key: str


class IssueRequest(_Body):
    """The session that a candidate's token is for."""

    session_id: SessionId | None = None


class Token(_Body):
    """A signed token, the id to end it by, and its end in Unix time."""

    token: str
    token_id: str
    expires_at: int


class OpenRequest(_Body):
    """The lease secret to resume with, or one of the caller's own choice."""

    lease_secret: LeaseSecret | None = None


class ExampleBody(_Body):
    """A question of a kind, and an answer to it."""

    question_type: str
    question: str
    answer: str


class GuideBody(_Body):
    """How the session is sat and graded, by language (`zh`, `en`).

    `grading` is also given by question type.
    """

    prompt_style: str
    style: dict[str, str]
    examples: dict[str, list[ExampleBody]]
    stars: dict[str, str]
    grading: dict[str, dict[str, str]]


class TaskBody(_Body):
    """What to do with a question and how its answer is graded, in the question's language."""

    instruction: str
    grading: str


class RenewedLease(_Body):
    """A lease that continues."""

    session_id: str
    generation: int
    expires_at: float
    prompt_style: str
    question_count: int
    answered_count: int
    deadline_at: str | None
    question_s: float | None
    lease_s: float | None


class LeaseBody(RenewedLease):
    """The right to sit a session; the secret is shown here only.

    `lease_s`: seconds that it lasts from each call. `longest_response`: characters that are kept of a response.
    """

    secret: str
    longest_response: int
    guide: GuideBody


class QuestionBody(_Body):
    """A question: position, bare content, and what is asked of an answer to it."""

    seq: int
    question_count: int
    prompt_style: str
    content: dict[str, Any]
    task: TaskBody
    is_repeat: bool
    answer_by: str | None


class NextBody(_Body):
    """The next question; null when the session is finished."""

    question: QuestionBody | None


class AnswerRequest(_Body):
    """The answer to the question at `seq`.

    Everything but the response is the caller's own account.

    A response beyond the `longest_response` of the lease is cut there, with size and SHA-256 of the whole in a mark at its end, and
    kept as `truncated`.
    """

    seq: int = Field(ge=1, le=_LARGEST_INT)
    response: str
    reasoning: str | None = None
    # What is none of them is refused by the protocol, whose message says what to do.
    answer_status: str = Field("answered", max_length=20, json_schema_extra={"enum": list(GIVEN_STATUSES)})
    finish_reason: str | None = Field(None, max_length=40)
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cost_usd: Amount | None = None
    latency_ms: Amount | None = None
    attempts: Count | None = None
    error: str | None = Field(None, max_length=200)
    prompt_version: str = Field("own", min_length=1, max_length=60)
    call_key: str | None = Field(None, max_length=64)
    signature: str | None = Field(None, max_length=88)
    wants_next: bool = False


class ReceiptBody(_Body):
    """The receipt for an answer: the answer is durable.

    `signature` is the installation's, over session, position, answer, entry and head.
    """

    seq: int
    answered_count: int
    question_count: int
    is_closed: bool
    session_id: str
    answer_sha256: str
    entry: int
    head: str
    signature: str | None


class AnswerBody(_Body):
    """The receipt and, if it was asked for and there is one, the next question."""

    receipt: ReceiptBody
    question: QuestionBody | None


class PracticeResult(_Body):
    """How a practice question was answered; `is_correct` is null where only a judge could say."""

    is_correct: bool | None
    read_as: str | None
    answer: str
    explanation: str | None


class PracticeAnswerBody(AnswerBody):
    """The same for a practice question, with its result."""

    result: PracticeResult


class QuotaBody(_Body):
    """Questions allocated, pending and completed; limit on those handed out."""

    allocated: int
    pending: int
    completed: int
    limit: int | None


class StatusBody(_Body):
    """Where a session stands."""

    session_id: str
    status: str
    prompt_style: str
    session: QuotaBody
    candidate: QuotaBody
    organisation: QuotaBody | None
    opened_at: str | None
    closed_at: str | None
    deadline_at: str | None
    question_s: float | None


class SessionLine(_Body):
    """One session of a list; the last five are shown to examiners only."""

    session_id: str
    status: str
    prompt_style: str
    question_count: int
    answered_count: int
    deadline_at: str | None
    run_id: str | None
    model: str | None
    organisation: str | None
    repeat: int | None
    is_reference: bool | None


class SessionList(_Body):
    """One page of the sessions that the caller may see.

    It also holds what to name as `after` for the next page; null when this is the last.
    """

    sessions: list[SessionLine]
    next_after: str | None


class UserRequest(_Body):
    """A new user."""

    user_id: Name
    role: Literal["admin", "examiner", "candidate", "annotator", "analyst"]
    organisation: Name | None = None
    model: Name | None = None
    disciplines: list[Discipline] | None = Field(None, max_length=100)
    question_limit: Count | None = None
    password: Password | None = Field(None, min_length=12, max_length=200)


class UserChange(_Body):
    """What is to change of a user; what is left out stays."""

    is_active: bool | None = None
    question_limit: Count | None = None
    password: Password | None = Field(None, min_length=12, max_length=200)


class UserBody(_Body):
    """A user, without password."""

    user_id: str
    role: str
    organisation: str | None
    model: str | None
    disciplines: list[str] | None
    question_limit: int | None
    is_active: bool
    created_at: str


class UserList(_Body):
    """One page of users, by name.

    It also holds what to name as `after` for the next page; null when this is the last.
    """

    users: list[UserBody]
    next_after: str | None


class RunBody(_Body):
    """A run, without seed, sets and questions."""

    run_id: str
    month: str
    bank_version: int
    reference_model: str
    policy: str
    status: str
    is_simulated: bool
    planned_at: str
    closed_at: str | None
    session_count: int
    closed_session_count: int


class RunList(_Body):
    """One page of runs, in the order in which they were planned.

    It also holds the `after` of the next page; null when this is the last.
    """

    runs: list[RunBody]
    next_after: str | None


class ApprovalBody(_Body):
    """A request for a second person: what exactly is asked, who asked, and how it stands."""

    approval_id: int
    what: Literal["plan", "release", "retire", "override"]
    target: str
    digest: str
    parameters: dict[str, Any]
    asked_by: str
    stood_by: str | None
    asked_at: str
    expires_at: str
    state: Literal["asked", "approved", "refused", "used", "expired"]
    decided_by: str | None
    decided_at: str | None
    used_at: str | None


class ApprovalList(_Body):
    """Requests: one page, and what to name as `after` for the next; null when it is the last."""

    approvals: list[ApprovalBody]
    next_after: int | None
