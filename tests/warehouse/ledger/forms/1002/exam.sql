BEGIN TRANSACTION;
CREATE TABLE access_chain (
	chain INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	entry_hash VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_access_chain PRIMARY KEY (chain)
);
INSERT INTO "access_chain" VALUES(1,0,'0000000000000000000000000000000000000000000000000000000000000000');
CREATE TABLE access_heads (
	day VARCHAR(10) NOT NULL, 
	session_id VARCHAR(80) NOT NULL, 
	entry_hash VARCHAR(64) NOT NULL, 
	kept_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_access_heads PRIMARY KEY (day, session_id)
);
CREATE TABLE access_log (
	access_id INTEGER NOT NULL, 
	number INTEGER, 
	user_id VARCHAR(120), 
	session_id VARCHAR(80), 
	action VARCHAR(40) NOT NULL, 
	http_status INTEGER NOT NULL, 
	code VARCHAR(40), 
	target VARCHAR(240), 
	address VARCHAR(64), 
	seq INTEGER, 
	answer_hash VARCHAR(64), 
	digest VARCHAR(64), 
	previous_hash VARCHAR(64), 
	entry_hash VARCHAR(64) NOT NULL, 
	accessed_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_access_log PRIMARY KEY (access_id)
);
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY);
INSERT INTO "alembic_version" VALUES('1002');
CREATE TABLE allocations (
	session_id VARCHAR(80) NOT NULL, 
	seq INTEGER NOT NULL, 
	lineage_uuid VARCHAR(36) NOT NULL, 
	allocated_at VARCHAR(32) NOT NULL, 
	delivered_at VARCHAR(32), 
	error VARCHAR(200), 
	CONSTRAINT pk_allocations PRIMARY KEY (session_id, seq), 
	CONSTRAINT fk_allocations_session_id FOREIGN KEY(session_id) REFERENCES sessions (session_id)
);
CREATE TABLE approvals (
	approval_id INTEGER NOT NULL, 
	what VARCHAR(20) NOT NULL, 
	target VARCHAR(120) NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	parameters JSON NOT NULL, 
	asked_by VARCHAR(120) NOT NULL, 
	stood_by VARCHAR(120), 
	asked_at VARCHAR(32) NOT NULL, 
	expires_at VARCHAR(32) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	decided_by VARCHAR(120), 
	decided_at VARCHAR(32), 
	used_at VARCHAR(32), 
	open_digest VARCHAR(64), 
	CONSTRAINT pk_approvals PRIMARY KEY (approval_id), 
	CONSTRAINT uq_approvals_open_digest UNIQUE (open_digest), 
	CONSTRAINT ck_approvals_state CHECK (state in ('asked','approved','refused','used'))
);
CREATE TABLE clock_marks (
	boot_id VARCHAR(80) NOT NULL, 
	moment FLOAT NOT NULL, 
	uptime_s FLOAT NOT NULL, 
	leap_s FLOAT NOT NULL, 
	found_at FLOAT NOT NULL, 
	CONSTRAINT pk_clock_marks PRIMARY KEY (boot_id)
);
CREATE TABLE ended_tokens (
	kind VARCHAR(5) NOT NULL, 
	name VARCHAR(120) NOT NULL, 
	issued_until FLOAT NOT NULL, 
	ended_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_ended_tokens PRIMARY KEY (kind, name), 
	CONSTRAINT ck_ended_tokens_kind CHECK (kind in ('token','user'))
);
CREATE TABLE erased_answers (
	session_id VARCHAR(80) NOT NULL, 
	seq INTEGER NOT NULL, 
	erasure_id VARCHAR(120) NOT NULL, 
	answer_hash VARCHAR(64) NOT NULL, 
	kept_digest VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_erased_answers PRIMARY KEY (session_id, seq)
);
CREATE TABLE erasures (
	erasure_id VARCHAR(120) NOT NULL, 
	run_id VARCHAR(80) NOT NULL, 
	cause VARCHAR(12) NOT NULL, 
	reason TEXT NOT NULL, 
	erased_by VARCHAR(120) NOT NULL, 
	erased_at VARCHAR(32) NOT NULL, 
	session_count INTEGER NOT NULL, 
	answer_count INTEGER NOT NULL, 
	digest VARCHAR(64) NOT NULL, 
	finished_at VARCHAR(32), 
	CONSTRAINT pk_erasures PRIMARY KEY (erasure_id), 
	CONSTRAINT ck_erasures_cause CHECK (cause in ('policy','withdrawal'))
);
CREATE TABLE exam_installation (
	number INTEGER NOT NULL, 
	installation_id VARCHAR(36) NOT NULL, 
	given_at VARCHAR(32) NOT NULL, 
	commit_count INTEGER NOT NULL, 
	CONSTRAINT pk_exam_installation PRIMARY KEY (number), 
	CONSTRAINT ck_exam_installation_number CHECK (number = 1)
);
CREATE TABLE exposures (
	organisation VARCHAR(120) NOT NULL, 
	lineage_uuid VARCHAR(36) NOT NULL, 
	set_id VARCHAR(100) NOT NULL, 
	exposed_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_exposures PRIMARY KEY (organisation, lineage_uuid)
);
CREATE TABLE log_keys (
	key_id VARCHAR(16) NOT NULL, 
	public_key VARCHAR(44) NOT NULL, 
	place VARCHAR(240) NOT NULL, 
	added_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_log_keys PRIMARY KEY (key_id)
);
CREATE TABLE organisations (
	organisation VARCHAR(120) NOT NULL, 
	name VARCHAR(120) DEFAULT '' NOT NULL, 
	same_as VARCHAR(120), 
	question_limit INTEGER, 
	created_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_organisations PRIMARY KEY (organisation)
);
CREATE TABLE public_head (
	chain INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	line_hash VARCHAR(64) NOT NULL, 
	ends_at BIGINT NOT NULL, 
	CONSTRAINT pk_public_head PRIMARY KEY (chain)
);
INSERT INTO "public_head" VALUES(1,0,'0000000000000000000000000000000000000000000000000000000000000000',0);
CREATE TABLE public_log (
	number INTEGER NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	run_id VARCHAR(80), 
	line TEXT NOT NULL, 
	line_hash VARCHAR(64) NOT NULL, 
	ends_at BIGINT NOT NULL, 
	CONSTRAINT pk_public_log PRIMARY KEY (number)
);
CREATE TABLE responses (
	session_id VARCHAR(80) NOT NULL, 
	seq INTEGER NOT NULL, 
	response TEXT NOT NULL, 
	reasoning TEXT, 
	answer_status VARCHAR(12) NOT NULL, 
	finish_reason VARCHAR(40), 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	cost_usd FLOAT, 
	latency_ms FLOAT, 
	attempts INTEGER, 
	error VARCHAR(200), 
	prompt_version VARCHAR(60) NOT NULL, 
	call_key VARCHAR(64), 
	signature VARCHAR(88), 
	answered_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_responses PRIMARY KEY (session_id, seq)
);
CREATE TABLE runs (
	run_id VARCHAR(80) NOT NULL, 
	month VARCHAR(7) NOT NULL, 
	season VARCHAR(80) NOT NULL, 
	bank_version INTEGER NOT NULL, 
	reference_model VARCHAR(120) NOT NULL, 
	bridged_reference VARCHAR(120), 
	repetition VARCHAR(80) DEFAULT '' NOT NULL, 
	set_size INTEGER NOT NULL, 
	policy VARCHAR(8) NOT NULL, 
	budget_usd FLOAT, 
	status VARCHAR(12) NOT NULL, 
	is_simulated BOOLEAN NOT NULL, 
	planned_at VARCHAR(32) NOT NULL, 
	closed_at VARCHAR(32), 
	CONSTRAINT pk_runs PRIMARY KEY (run_id)
);
CREATE TABLE sessions (
	session_id VARCHAR(80) NOT NULL, 
	run_id VARCHAR(80) NOT NULL, 
	set_id VARCHAR(100) NOT NULL, 
	user_id VARCHAR(120) NOT NULL, 
	model VARCHAR(120) NOT NULL, 
	organisation VARCHAR(120) NOT NULL, 
	prompt_style VARCHAR(20) NOT NULL, 
	repeat INTEGER NOT NULL, 
	is_reference BOOLEAN NOT NULL, 
	is_simulated BOOLEAN NOT NULL, 
	is_outside BOOLEAN DEFAULT 0 NOT NULL, 
	fingerprint TEXT, 
	pending_window INTEGER NOT NULL, 
	question_count INTEGER NOT NULL, 
	next_seq INTEGER NOT NULL, 
	answered_count INTEGER NOT NULL, 
	status VARCHAR(8) NOT NULL, 
	lease_generation INTEGER NOT NULL, 
	lease_hash VARCHAR(64), 
	lease_expires_at FLOAT, 
	access_hash VARCHAR(64), 
	opened_at VARCHAR(32), 
	closed_at VARCHAR(32), 
	deadline_at VARCHAR(32), 
	question_s FLOAT, 
	close_reason VARCHAR(200), 
	CONSTRAINT pk_sessions PRIMARY KEY (session_id), 
	CONSTRAINT uq_sessions_sitting UNIQUE (run_id, set_id, model, prompt_style, repeat), 
	CONSTRAINT ck_sessions_status CHECK (status in ('planned','open','closed')), 
	CONSTRAINT fk_sessions_run_id FOREIGN KEY(run_id) REFERENCES runs (run_id), 
	CONSTRAINT fk_sessions_set_id FOREIGN KEY(set_id) REFERENCES set_numbers (set_id)
);
CREATE TABLE set_claims (
	organisation VARCHAR(120) NOT NULL, 
	set_id VARCHAR(100) NOT NULL, 
	run_id VARCHAR(80) NOT NULL, 
	is_reference BOOLEAN DEFAULT 0 NOT NULL, 
	claimed_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_set_claims PRIMARY KEY (organisation, set_id), 
	CONSTRAINT fk_set_claims_set_id FOREIGN KEY(set_id) REFERENCES set_numbers (set_id)
);
CREATE TABLE set_numbers (
	set_id VARCHAR(100) NOT NULL, 
	season VARCHAR(80) NOT NULL, 
	set_number INTEGER NOT NULL, 
	bank_version INTEGER NOT NULL, 
	is_simulated BOOLEAN NOT NULL, 
	set_group INTEGER DEFAULT '1' NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_set_numbers PRIMARY KEY (set_id), 
	CONSTRAINT uq_sets_season_number UNIQUE (season, set_number)
);
CREATE TABLE sets (
	set_id VARCHAR(100) NOT NULL, 
	lineage_uuid VARCHAR(36) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	discipline VARCHAR(40) NOT NULL, 
	is_anchor BOOLEAN DEFAULT 0 NOT NULL, 
	content JSON NOT NULL, 
	CONSTRAINT pk_sets PRIMARY KEY (set_id, lineage_uuid), 
	CONSTRAINT fk_sets_set_id FOREIGN KEY(set_id) REFERENCES set_numbers (set_id)
);
CREATE TABLE shared_files (
	name VARCHAR(40) NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	host VARCHAR(255) NOT NULL, 
	noted_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_shared_files PRIMARY KEY (name)
);
CREATE TABLE signed_heads (
	number INTEGER NOT NULL, 
	entry_hash VARCHAR(64) NOT NULL, 
	key_id VARCHAR(16) NOT NULL, 
	signed_at VARCHAR(32) NOT NULL, 
	signature VARCHAR(88) NOT NULL, 
	CONSTRAINT pk_signed_heads PRIMARY KEY (number), 
	CONSTRAINT fk_signed_heads_key_id FOREIGN KEY(key_id) REFERENCES log_keys (key_id)
);
CREATE TABLE users (
	user_id VARCHAR(120) NOT NULL, 
	role VARCHAR(20) NOT NULL, 
	organisation VARCHAR(120), 
	model VARCHAR(120), 
	disciplines JSON, 
	password_hash TEXT, 
	public_key VARCHAR(44), 
	question_limit INTEGER, 
	is_active BOOLEAN NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_users PRIMARY KEY (user_id), 
	CONSTRAINT ck_users_role CHECK (role in ('admin','examiner','candidate','annotator','analyst'))
);
CREATE TABLE web_sessions (
	session_hash VARCHAR(64) NOT NULL, 
	user_id VARCHAR(120) NOT NULL, 
	started_at VARCHAR(32) NOT NULL, 
	expires_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_web_sessions PRIMARY KEY (session_hash), 
	CONSTRAINT fk_web_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (user_id)
);
CREATE INDEX ix_access_log_session ON access_log (session_id, access_id);
CREATE INDEX ix_access_log_target ON access_log (action, target) WHERE target is not null and seq is null;
CREATE UNIQUE INDEX uq_access_log_number ON access_log (number);
CREATE INDEX ix_approvals_digest ON approvals (digest);
CREATE INDEX ix_erased_answers_erasure ON erased_answers (erasure_id);
CREATE INDEX ix_public_log_run ON public_log (run_id, kind);
CREATE INDEX ix_public_log_ends_at ON public_log (ends_at);
CREATE UNIQUE INDEX uq_runs_month_repetition ON runs (month, is_simulated, repetition);
CREATE INDEX ix_sessions_run ON sessions (run_id);
CREATE INDEX ix_sessions_user ON sessions (user_id);
CREATE INDEX ix_sessions_set ON sessions (set_id);
CREATE INDEX ix_sessions_organisation ON sessions (organisation);
CREATE INDEX ix_web_sessions_user ON web_sessions (user_id);
COMMIT;
