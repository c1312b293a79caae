BEGIN TRANSACTION;
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY);
INSERT INTO "alembic_version" VALUES('1002');
CREATE TABLE annotator_profiles (
	user_id VARCHAR(120) NOT NULL, 
	language VARCHAR(2), 
	email VARCHAR(254), 
	daily_quota INTEGER, 
	due_days INTEGER, 
	levels JSON, 
	CONSTRAINT pk_annotator_profiles PRIMARY KEY (user_id)
);
CREATE TABLE backups (
	backup_id VARCHAR(36) NOT NULL, 
	folder TEXT NOT NULL, 
	host VARCHAR(255) NOT NULL, 
	begun_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_backups PRIMARY KEY (backup_id)
);
CREATE TABLE batch_calls (
	batch_id VARCHAR(40) NOT NULL, 
	call_key VARCHAR(64) NOT NULL, 
	worst_usd FLOAT NOT NULL, 
	status VARCHAR(8) NOT NULL, 
	error VARCHAR(60), 
	CONSTRAINT pk_batch_calls PRIMARY KEY (batch_id, call_key), 
	CONSTRAINT ck_batch_calls_status CHECK (status in ('sent','done','failed'))
);
CREATE TABLE budget_limits (
	number INTEGER NOT NULL, 
	run_id VARCHAR(200) NOT NULL, 
	limit_usd FLOAT NOT NULL, 
	reason TEXT NOT NULL, 
	set_by VARCHAR(120) NOT NULL, 
	set_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_budget_limits PRIMARY KEY (number)
);
CREATE TABLE budget_shares (
	run_id VARCHAR(200) NOT NULL, 
	holder VARCHAR(40) NOT NULL, 
	host VARCHAR(255) NOT NULL, 
	process_id INTEGER NOT NULL, 
	reserved_usd FLOAT NOT NULL, 
	expires_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_budget_shares PRIMARY KEY (run_id, holder)
);
CREATE TABLE call_batches (
	batch_id VARCHAR(40) NOT NULL, 
	run_id VARCHAR(80) NOT NULL, 
	provider VARCHAR(200) NOT NULL, 
	model VARCHAR(120) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	file_hash VARCHAR(64), 
	file_id VARCHAR(200), 
	provider_batch_id VARCHAR(200), 
	provider_status VARCHAR(20), 
	call_count INTEGER NOT NULL, 
	done_count INTEGER NOT NULL, 
	failed_count INTEGER NOT NULL, 
	started_at VARCHAR(32) NOT NULL, 
	changed_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_call_batches PRIMARY KEY (batch_id), 
	CONSTRAINT ck_call_batches_state CHECK (state in ('gathering','creating','created','ended','dropped','lost'))
);
CREATE TABLE commit_counts (
	connection VARCHAR(36) NOT NULL, 
	commit_count INTEGER NOT NULL, 
	counted_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_commit_counts PRIMARY KEY (connection)
);
CREATE TABLE desk_marks (
	kind VARCHAR(20) NOT NULL, 
	work VARCHAR(200) NOT NULL, 
	person VARCHAR(120) NOT NULL, 
	item_key VARCHAR(32) NOT NULL, 
	mark VARCHAR(60) NOT NULL, 
	note TEXT, 
	given_at VARCHAR(32) NOT NULL, 
	landed_at VARCHAR(32), 
	CONSTRAINT pk_desk_marks PRIMARY KEY (kind, work, person, item_key)
);
CREATE TABLE edition_roots (
	edition_id TEXT NOT NULL, 
	root_hash TEXT NOT NULL, 
	kept_at TEXT NOT NULL, 
	CONSTRAINT pk_edition_roots PRIMARY KEY (edition_id)
);
CREATE TABLE flow_runs (
	flow_run_id VARCHAR(36) NOT NULL, 
	flow VARCHAR(40) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	deployment VARCHAR(80), 
	started_by VARCHAR(10) NOT NULL, 
	due_at VARCHAR(32), 
	state VARCHAR(10) NOT NULL, 
	counts JSON, 
	host VARCHAR(255) NOT NULL, 
	process_id INTEGER NOT NULL, 
	started_at VARCHAR(32) NOT NULL, 
	ended_at VARCHAR(32), 
	alive_until VARCHAR(32), 
	CONSTRAINT pk_flow_runs PRIMARY KEY (flow_run_id), 
	CONSTRAINT ck_flow_runs_started_by CHECK (started_by in ('schedule','event','person','command')), 
	CONSTRAINT ck_flow_runs_state CHECK (state in ('running','completed','failed','crashed','cancelled'))
);
CREATE TABLE flow_schedules (
	deployment VARCHAR(80) NOT NULL, 
	flow VARCHAR(40) NOT NULL, 
	cron VARCHAR(80) NOT NULL, 
	timezone VARCHAR(60) NOT NULL, 
	deployed_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_flow_schedules PRIMARY KEY (deployment)
);
CREATE TABLE guideline_readings (
	annotator VARCHAR(120) NOT NULL, 
	version INTEGER NOT NULL, 
	read_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_guideline_readings PRIMARY KEY (annotator, version)
);
CREATE TABLE guideline_versions (
	version INTEGER NOT NULL, 
	changes TEXT NOT NULL, 
	changes_zh TEXT, 
	published_by VARCHAR(120), 
	published_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_guideline_versions PRIMARY KEY (version)
);
CREATE TABLE installation (
	number INTEGER NOT NULL, 
	installation_id VARCHAR(36) NOT NULL, 
	given_at VARCHAR(32) NOT NULL, 
	commit_count INTEGER NOT NULL, 
	CONSTRAINT pk_installation PRIMARY KEY (number), 
	CONSTRAINT ck_installation_number CHECK (number = 1)
);
CREATE TABLE jobs (
	kind VARCHAR(40) NOT NULL, 
	name VARCHAR(300) NOT NULL, 
	run_id VARCHAR(80), 
	lane VARCHAR(200) NOT NULL, 
	place INTEGER NOT NULL, 
	tries INTEGER NOT NULL, 
	problem TEXT, 
	details JSON, 
	deferred_by VARCHAR(120) NOT NULL, 
	holder VARCHAR(40), 
	CONSTRAINT pk_jobs PRIMARY KEY (kind, name)
);
CREATE TABLE landing_marks (
	name VARCHAR(40) NOT NULL, 
	marked_at VARCHAR(32) NOT NULL, 
	unit_count INTEGER NOT NULL, 
	CONSTRAINT pk_landing_marks PRIMARY KEY (name)
);
CREATE TABLE llm_calls (
	call_key VARCHAR(64) NOT NULL, 
	purpose VARCHAR(40) NOT NULL, 
	run_id VARCHAR(80), 
	unit VARCHAR(160), 
	endpoint VARCHAR(200) NOT NULL, 
	model VARCHAR(120) NOT NULL, 
	status VARCHAR(8) NOT NULL, 
	attempts INTEGER NOT NULL, 
	reply JSON, 
	input_tokens INTEGER, 
	output_tokens INTEGER, 
	cost_usd FLOAT, 
	latency_ms FLOAT, 
	error VARCHAR(200), 
	started_at VARCHAR(32) NOT NULL, 
	finished_at VARCHAR(32), 
	holder VARCHAR(40), 
	extra_usd FLOAT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_llm_calls PRIMARY KEY (call_key), 
	CONSTRAINT ck_llm_calls_status CHECK (status in ('started','done','failed'))
);
CREATE TABLE process_leases (
	holder VARCHAR(40) NOT NULL, 
	host VARCHAR(255) NOT NULL, 
	process_id INTEGER NOT NULL, 
	expires_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_process_leases PRIMARY KEY (holder)
);
CREATE TABLE provider_paces (
	name VARCHAR(300) NOT NULL, 
	next_at FLOAT NOT NULL, 
	paused_until FLOAT NOT NULL, 
	CONSTRAINT pk_provider_paces PRIMARY KEY (name)
);
CREATE TABLE review_assignments (
	batch_id VARCHAR(80) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	annotator VARCHAR(120) NOT NULL, 
	role VARCHAR(12) NOT NULL, 
	assigned_at VARCHAR(32) NOT NULL, 
	due_at VARCHAR(32) NOT NULL, 
	place INTEGER DEFAULT '0' NOT NULL, 
	has_answer BOOLEAN DEFAULT 1 NOT NULL, 
	CONSTRAINT pk_review_assignments PRIMARY KEY (batch_id, question_uuid, annotator)
);
CREATE TABLE review_batches (
	batch_id VARCHAR(80) NOT NULL, 
	status VARCHAR(12) NOT NULL, 
	review_count INTEGER NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	due_at VARCHAR(32) NOT NULL, 
	closed_at VARCHAR(32), 
	CONSTRAINT pk_review_batches PRIMARY KEY (batch_id)
);
CREATE TABLE review_drafts (
	batch_id VARCHAR(80) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	annotator VARCHAR(120) NOT NULL, 
	draft JSON NOT NULL, 
	saved_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_review_drafts PRIMARY KEY (batch_id, question_uuid, annotator)
);
CREATE TABLE review_gold (
	batch_id VARCHAR(80) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	expected VARCHAR(8) NOT NULL, 
	true_answer JSON, 
	source_uuid VARCHAR(36) NOT NULL, 
	source_batch VARCHAR(80) NOT NULL, 
	CONSTRAINT pk_review_gold PRIMARY KEY (batch_id, question_uuid)
);
CREATE TABLE review_messages (
	batch_id VARCHAR(80) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	number INTEGER NOT NULL, 
	annotator VARCHAR(120), 
	author VARCHAR(120) NOT NULL, 
	is_coordinator BOOLEAN NOT NULL, 
	message TEXT NOT NULL, 
	written_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_review_messages PRIMARY KEY (batch_id, question_uuid, number)
);
CREATE TABLE review_questions (
	batch_id VARCHAR(80) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	revision INTEGER NOT NULL, 
	lineage_uuid VARCHAR(36) NOT NULL, 
	document_id VARCHAR(36), 
	discipline VARCHAR(40), 
	content JSON NOT NULL, 
	CONSTRAINT pk_review_questions PRIMARY KEY (batch_id, question_uuid), 
	CONSTRAINT fk_review_questions_batch_id FOREIGN KEY(batch_id) REFERENCES review_batches (batch_id)
);
CREATE TABLE reviews (
	batch_id VARCHAR(80) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	annotator VARCHAR(120) NOT NULL, 
	decision VARCHAR(8) NOT NULL, 
	reject_reason VARCHAR(20), 
	comment TEXT, 
	edited_fields JSON, 
	channel VARCHAR(16) NOT NULL, 
	decided_at VARCHAR(32) NOT NULL, 
	guideline_version INTEGER, 
	CONSTRAINT pk_reviews PRIMARY KEY (batch_id, question_uuid, annotator)
);
CREATE TABLE run_archives (
	unit VARCHAR(100) NOT NULL, 
	run_id VARCHAR(80) NOT NULL, 
	session_ids JSON NOT NULL, 
	rows_hash VARCHAR(64) NOT NULL, 
	row_counts JSON NOT NULL, 
	sums JSON NOT NULL, 
	archived_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_run_archives PRIMARY KEY (unit)
);
CREATE TABLE run_budgets (
	run_id VARCHAR(200) NOT NULL, 
	spent_usd FLOAT NOT NULL, 
	CONSTRAINT pk_run_budgets PRIMARY KEY (run_id)
);
CREATE TABLE run_notices (
	flow_run_id VARCHAR(36) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	ending VARCHAR(20) NOT NULL, 
	found_at VARCHAR(32) NOT NULL, 
	told_at VARCHAR(32), 
	next_at VARCHAR(32) NOT NULL, 
	tries INTEGER NOT NULL, 
	told JSON NOT NULL, 
	CONSTRAINT pk_run_notices PRIMARY KEY (flow_run_id)
);
CREATE TABLE run_plans (
	run_id VARCHAR(80) NOT NULL, 
	seed VARCHAR(80) NOT NULL, 
	"plan" JSON NOT NULL, 
	CONSTRAINT pk_run_plans PRIMARY KEY (run_id)
);
CREATE TABLE run_seals (
	run_id VARCHAR(80) NOT NULL, 
	share VARCHAR(64) NOT NULL, 
	"plan" TEXT NOT NULL, 
	exclusions TEXT NOT NULL, 
	parameters JSON, 
	CONSTRAINT pk_run_seals PRIMARY KEY (run_id)
);
CREATE TABLE set_keys (
	set_id VARCHAR(100) NOT NULL, 
	draw_key VARCHAR(80) NOT NULL, 
	CONSTRAINT pk_set_keys PRIMARY KEY (set_id)
);
CREATE TABLE set_proofs (
	set_id VARCHAR(100) NOT NULL, 
	drawn_in VARCHAR(80), 
	items JSON NOT NULL, 
	revisions JSON NOT NULL, 
	CONSTRAINT pk_set_proofs PRIMARY KEY (set_id)
);
CREATE TABLE stage_leaves (
	stage VARCHAR(40) NOT NULL, 
	unit VARCHAR(200) NOT NULL, 
	leaves TEXT NOT NULL, 
	CONSTRAINT pk_stage_leaves PRIMARY KEY (stage, unit)
);
CREATE INDEX ix_backups_begun_at ON backups (begun_at);
CREATE INDEX ix_batch_calls_call ON batch_calls (call_key);
CREATE INDEX ix_budget_limits_run_id ON budget_limits (run_id);
CREATE INDEX ix_call_batches_state ON call_batches (state);
CREATE INDEX ix_desk_marks_landed ON desk_marks (landed_at);
CREATE INDEX ix_flow_runs_deployment ON flow_runs (deployment, started_at);
CREATE INDEX ix_flow_runs_started_at ON flow_runs (started_at);
CREATE INDEX ix_jobs_run ON jobs (kind, run_id, lane, tries, place);
CREATE INDEX ix_llm_calls_run ON llm_calls (run_id);
CREATE INDEX ix_llm_calls_started_at ON llm_calls (started_at) WHERE purpose <> 'exam';
CREATE INDEX ix_llm_calls_finished_at ON llm_calls (finished_at) WHERE purpose <> 'exam';
CREATE INDEX ix_llm_calls_unit ON llm_calls (unit);
CREATE INDEX ix_review_assignments_queue ON review_assignments (annotator, batch_id, due_at, place);
CREATE INDEX ix_review_messages_annotator ON review_messages (annotator, batch_id);
CREATE INDEX ix_reviews_question_uuid ON reviews (question_uuid);
CREATE INDEX ix_reviews_annotator ON reviews (annotator, batch_id, decided_at);
CREATE INDEX ix_run_archives_run ON run_archives (run_id);
CREATE INDEX ix_run_notices_told_at ON run_notices (told_at);
CREATE INDEX ix_review_questions_question_uuid ON review_questions (question_uuid);
COMMIT;
