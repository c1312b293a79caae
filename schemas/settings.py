"""Settings: `PROCTOR_*` variables, then `proctor.toml` in the working folder, then the defaults here."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from schemas.errors import UsageError
from schemas.vocabulary import EXAMINED_DISCIPLINES


class Settings(BaseSettings):
    """Everything that can be set. Paths that are not given lie under `home`."""

    model_config = SettingsConfigDict(
        env_prefix="PROCTOR_",
        toml_file="proctor.toml",
        extra="forbid",
        hide_input_in_errors=True,
        frozen=True,
    )

    home: Path = Field(Path(".proctor"), description="Folder of all state.")
    ledger_url: SecretStr | None = Field(
        None, description="SQLAlchemy URL of the ledger; default SQLite under home."
    )
    lake_catalog: SecretStr | None = Field(
        None, description="DuckLake catalog, `sqlite:PATH` or `postgres:DSN`; default SQLite under home."
    )
    lake_data: str | None = Field(None, description="Folder or s3:// prefix of the lake's Parquet files.")
    registry: Path | None = Field(None, description="Model registry; default `models.yaml` under home.")

    review_count: int = Field(2, ge=1, description="Reviews per question.")
    review_due_days: int = Field(30, ge=1, description="Days an annotator has.")
    review_daily_quota: int = Field(
        50, ge=1, description="Questions an annotator is given per day of the window."
    )
    near_duplicate_jaccard: float = Field(
        0.8, gt=0, le=1, description="Jaccard of character 3-grams that is a duplicate."
    )

    disciplines: tuple[str, ...] = Field(EXAMINED_DISCIPLINES, description="Disciplines that are examined.")
    set_size: int = Field(1000, ge=1, description="Lineages in a set.")
    repeats: int = Field(3, ge=1, description="Independent repeats per candidate.")
    prompt_styles: tuple[str, ...] = Field(
        ("zero_shot", "few_shot", "chain_of_thought"), description="Styles sat."
    )
    set_policy: Literal["shared", "unique"] = Field("shared", description="How sets are given out.")
    cap_small_disciplines: bool = Field(
        False, description="Draw what a small discipline has instead of refusing."
    )
    rest_months: int | None = Field(
        None, description="Months after which a lineage may return; never by default."
    )
    reference_model: str | None = Field(
        None, description="The reference candidate; overrides the registry's."
    )
    judges: tuple[str, ...] = Field(
        (), description="Judges; default those of the registry, first is primary."
    )
    budget_usd: float | None = Field(None, ge=0, description="Budget of a run; no limit by default.")

    lease_s: float = Field(60.0, gt=0, description="Seconds a session's lease lasts without a call.")
    pending_window: int = Field(
        1, ge=1, description="Questions that may be pending at once (more only in house)."
    )
    call_timeout_s: float = Field(600.0, gt=0, description="Time limit of one LLM call.")
    call_concurrency: int = Field(32, ge=1, description="LLM calls in flight per provider.")
    exam_door: Literal["direct", "http"] = Field(
        "direct", description="How in-house runs reach the exam protocol."
    )
    exam_url: str = Field("http://127.0.0.1:8700", description="Exam API, for the http door.")
    token_ttl_s: int = Field(12 * 3600, ge=1, description="Life of a token.")

    similarity_model: str = Field(
        "BAAI/bge-large-zh-v1.5", description="Embedding model of Gscore: name or folder."
    )
    workers: int = Field(2, ge=1, description="Documents that an ingest reads at once.")

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
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

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
    def registry_path(self) -> Path:
        """The registry file."""
        return self.registry or self.home / "models.yaml"

    @property
    def archive_dir(self) -> Path:
        """Where originals lie by content hash, with their TXT and JSON."""
        return self.home / "archive"


@lru_cache(maxsize=1)
def load_settings() -> Settings:
    """The settings of this process; raises UsageError naming the setting that is wrong."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        raise UsageError(
            f"Setting {name!r} (PROCTOR_{name.upper()} or proctor.toml): {first['msg']}. Correct it and run again."
        ) from None
