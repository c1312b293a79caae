CREATE TABLE access_log (
	access_id SERIAL NOT NULL, 
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
CREATE INDEX ix_access_log_session ON access_log (session_id, access_id);
CREATE INDEX ix_access_log_target ON access_log (action, target) WHERE target is not null and seq is null;
CREATE UNIQUE INDEX uq_access_log_number ON access_log (number);
COMMENT ON COLUMN access_log.number IS 'Place in the one chain; null in the chains of sessions that were before.';
COMMENT ON COLUMN access_log.target IS 'Whom or what it was done to.';
COMMENT ON COLUMN access_log.address IS 'Where the caller is; null for this machine.';
COMMENT ON COLUMN access_log.seq IS 'Position of the question.';
COMMENT ON COLUMN access_log.answer_hash IS 'SHA-256 of the answer''s text.';
COMMENT ON COLUMN access_log.digest IS 'SHA-256 of what else the entry fixes.';
CREATE TABLE access_chain (
	chain SERIAL NOT NULL, 
	number INTEGER NOT NULL, 
	entry_hash VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_access_chain PRIMARY KEY (chain)
);
COMMENT ON COLUMN access_chain.chain IS 'Always 1: there is one row.';
COMMENT ON COLUMN access_chain.number IS 'Number of the last entry, 0 for none.';
COMMENT ON COLUMN access_chain.entry_hash IS 'Hash of the last entry.';
CREATE TABLE public_log (
	number INTEGER NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	run_id VARCHAR(80), 
	line TEXT NOT NULL, 
	line_hash VARCHAR(64) NOT NULL, 
	ends_at BIGINT NOT NULL, 
	CONSTRAINT pk_public_log PRIMARY KEY (number)
);
CREATE INDEX ix_public_log_run ON public_log (run_id, kind);
CREATE INDEX ix_public_log_ends_at ON public_log (ends_at);
COMMENT ON COLUMN public_log.number IS 'Line of the file, from 1.';
COMMENT ON COLUMN public_log.run_id IS 'The run that the entry is about; null for none.';
COMMENT ON COLUMN public_log.line IS 'The line to the byte, without its newline.';
COMMENT ON COLUMN public_log.line_hash IS 'SHA-256 of the line.';
COMMENT ON COLUMN public_log.ends_at IS 'Bytes of the file up to the end of the line.';
CREATE TABLE public_head (
	chain SERIAL NOT NULL, 
	number INTEGER NOT NULL, 
	line_hash VARCHAR(64) NOT NULL, 
	ends_at BIGINT NOT NULL, 
	CONSTRAINT pk_public_head PRIMARY KEY (chain)
);
COMMENT ON COLUMN public_head.chain IS 'Always 1: there is one row.';
COMMENT ON COLUMN public_head.number IS 'Number of the last line, 0 for none.';
COMMENT ON COLUMN public_head.line_hash IS 'Hash of the last line.';
COMMENT ON COLUMN public_head.ends_at IS 'Bytes of all lines with their newlines.';
CREATE TABLE landing_marks (
	name VARCHAR(40) NOT NULL, 
	marked_at VARCHAR(32) NOT NULL, 
	unit_count INTEGER NOT NULL, 
	CONSTRAINT pk_landing_marks PRIMARY KEY (name)
);
COMMENT ON COLUMN landing_marks.name IS 'What is landed up to the mark.';
COMMENT ON COLUMN landing_marks.marked_at IS 'Everything older is in the lake.';
COMMENT ON COLUMN landing_marks.unit_count IS 'Units the lake had then; a lake with fewer is another.';
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
CREATE INDEX ix_jobs_run ON jobs (kind, run_id, lane, tries, place);
COMMENT ON COLUMN jobs.kind IS 'Kind of work: sit, judge, document, drift, errors, contamination.';
COMMENT ON COLUMN jobs.name IS 'Which: a session, a judge''s part of one, a run, a sample.';
COMMENT ON COLUMN jobs.run_id IS 'The run that any worker may help with; null for work of one process.';
COMMENT ON COLUMN jobs.lane IS 'Whom it asks: a provider, a judge. It is taken where there is room for it.';
COMMENT ON COLUMN jobs.place IS 'The lowest is taken first.';
COMMENT ON COLUMN jobs.tries IS 'Tries that failed.';
COMMENT ON COLUMN jobs.problem IS 'Why the last try failed; null before one has.';
COMMENT ON COLUMN jobs.details IS 'What it is begun with by another process; null for nothing.';
COMMENT ON COLUMN jobs.deferred_by IS 'The worker whose run put it here; empty for a command.';
COMMENT ON COLUMN jobs.holder IS 'Drawn by who holds it; null while it waits.';
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
CREATE INDEX ix_flow_runs_deployment ON flow_runs (deployment, started_at);
CREATE INDEX ix_flow_runs_started_at ON flow_runs (started_at);
COMMENT ON COLUMN flow_runs.flow_run_id IS 'Prefect''s, or drawn where there is no server.';
COMMENT ON COLUMN flow_runs.name IS 'What it is for: `monthly-2026-12`.';
COMMENT ON COLUMN flow_runs.deployment IS 'What started it; null for a command.';
COMMENT ON COLUMN flow_runs.due_at IS 'When its schedule wanted it; null where no schedule did.';
COMMENT ON COLUMN flow_runs.counts IS 'Ids and counts of what it came to.';
COMMENT ON COLUMN flow_runs.alive_until IS 'Renewed by its process; null for runs of before that was noted.';
CREATE TABLE flow_schedules (
	deployment VARCHAR(80) NOT NULL, 
	flow VARCHAR(40) NOT NULL, 
	cron VARCHAR(80) NOT NULL, 
	timezone VARCHAR(60) NOT NULL, 
	deployed_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_flow_schedules PRIMARY KEY (deployment)
);
COMMENT ON COLUMN flow_schedules.deployed_at IS 'Since when it has had this time; nothing was due before.';
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
CREATE INDEX ix_run_notices_told_at ON run_notices (told_at);
COMMENT ON COLUMN run_notices.flow_run_id IS 'A run that ended badly, as the ledger or Prefect says.';
COMMENT ON COLUMN run_notices.name IS 'What the run is for.';
COMMENT ON COLUMN run_notices.ending IS 'Failed, Crashed, TimedOut.';
COMMENT ON COLUMN run_notices.told_at IS 'When everybody had been told; null before.';
COMMENT ON COLUMN run_notices.next_at IS 'Nobody else tells of it, and nobody again, before.';
COMMENT ON COLUMN run_notices.tries IS 'How often somebody set out to tell.';
COMMENT ON COLUMN run_notices.told IS 'Names of those who have been told.';
CREATE TABLE commit_counts (
	connection VARCHAR(36) NOT NULL, 
	commit_count INTEGER NOT NULL, 
	counted_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_commit_counts PRIMARY KEY (connection)
);
COMMENT ON COLUMN commit_counts.connection IS 'Drawn for each connection to a server.';
COMMENT ON COLUMN commit_counts.commit_count IS 'Its last transaction that was kept.';
CREATE TABLE backups (
	backup_id VARCHAR(36) NOT NULL, 
	folder TEXT NOT NULL, 
	host VARCHAR(255) NOT NULL, 
	begun_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_backups PRIMARY KEY (backup_id)
);
CREATE INDEX ix_backups_begun_at ON backups (begun_at);
COMMENT ON COLUMN backups.folder IS 'Where it was written; it may have been moved or deleted since.';
COMMENT ON COLUMN backups.begun_at IS 'It holds nothing that was written later than it ended.';
CREATE TABLE installation (
	number INTEGER NOT NULL, 
	installation_id VARCHAR(36) NOT NULL, 
	given_at VARCHAR(32) NOT NULL, 
	commit_count INTEGER NOT NULL, 
	CONSTRAINT pk_installation PRIMARY KEY (number), 
	CONSTRAINT ck_installation_number CHECK (number = 1)
);
COMMENT ON COLUMN installation.number IS 'Always 1: there is one row.';
COMMENT ON COLUMN installation.installation_id IS 'The same in the home''s secrets and in the lake''s catalog.';
COMMENT ON COLUMN installation.commit_count IS 'Commits of an embedded ledger since then; a file that knows fewer than its mark has lost some.';
CREATE TABLE exam_installation (
	number INTEGER NOT NULL, 
	installation_id VARCHAR(36) NOT NULL, 
	given_at VARCHAR(32) NOT NULL, 
	commit_count INTEGER NOT NULL, 
	CONSTRAINT pk_exam_installation PRIMARY KEY (number), 
	CONSTRAINT ck_exam_installation_number CHECK (number = 1)
);
COMMENT ON COLUMN exam_installation.number IS 'Always 1: there is one row.';
COMMENT ON COLUMN exam_installation.installation_id IS 'The same in the home''s secrets and in the lake''s catalog.';
COMMENT ON COLUMN exam_installation.commit_count IS 'Commits of an embedded ledger since then; a file that knows fewer than its mark has lost some.';
CREATE TABLE shared_files (
	name VARCHAR(40) NOT NULL, 
	fingerprint VARCHAR(64) NOT NULL, 
	host VARCHAR(255) NOT NULL, 
	noted_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_shared_files PRIMARY KEY (name)
);
COMMENT ON COLUMN shared_files.name IS '`exam-keys.json`, `models.yaml`, `archive` …';
COMMENT ON COLUMN shared_files.fingerprint IS 'Digest keyed with the content itself; no key can be computed from it.';
COMMENT ON COLUMN shared_files.host IS 'Where it was noted or accepted last.';
CREATE TABLE clock_marks (
	boot_id VARCHAR(80) NOT NULL, 
	moment FLOAT NOT NULL, 
	uptime_s FLOAT NOT NULL, 
	leap_s FLOAT NOT NULL, 
	found_at FLOAT NOT NULL, 
	CONSTRAINT pk_clock_marks PRIMARY KEY (boot_id)
);
COMMENT ON COLUMN clock_marks.boot_id IS 'Start of a host that a process of this installation ran on; empty where the host names none.';
COMMENT ON COLUMN clock_marks.moment IS 'The clock when it was last looked at, Unix time.';
COMMENT ON COLUMN clock_marks.uptime_s IS 'Seconds since that start, at that moment.';
COMMENT ON COLUMN clock_marks.leap_s IS 'Seconds before that start that nothing but the clock shows; 0 once a person has confirmed them.';
COMMENT ON COLUMN clock_marks.found_at IS 'The clock when they were found, Unix time.';
CREATE TABLE ended_tokens (
	kind VARCHAR(5) NOT NULL, 
	name VARCHAR(120) NOT NULL, 
	issued_until FLOAT NOT NULL, 
	ended_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_ended_tokens PRIMARY KEY (kind, name), 
	CONSTRAINT ck_ended_tokens_kind CHECK (kind in ('token','user'))
);
COMMENT ON COLUMN ended_tokens.kind IS 'token: one; user: all that a user had.';
COMMENT ON COLUMN ended_tokens.name IS 'Id of the token (`jti`), or the user.';
COMMENT ON COLUMN ended_tokens.issued_until IS 'Unix time; a user''s tokens that were issued until then are ended.';
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
CREATE UNIQUE INDEX uq_runs_month_repetition ON runs (month, is_simulated, repetition);
COMMENT ON COLUMN runs.bridged_reference IS 'The former reference that sits this run too.';
COMMENT ON COLUMN runs.repetition IS 'Name of a further run of the month; empty for the month''s own.';
CREATE TABLE run_plans (
	run_id VARCHAR(80) NOT NULL, 
	seed VARCHAR(80) NOT NULL, 
	plan JSON NOT NULL, 
	CONSTRAINT pk_run_plans PRIMARY KEY (run_id)
);
COMMENT ON COLUMN run_plans.seed IS 'Secret until the run is closed.';
COMMENT ON COLUMN run_plans.plan IS 'Candidates, styles, repeats, disciplines, models as registered.';
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
COMMENT ON COLUMN set_numbers.set_group IS 'Group of organisations that may share it, from 1.';
CREATE TABLE set_keys (
	set_id VARCHAR(100) NOT NULL, 
	draw_key VARCHAR(80) NOT NULL, 
	CONSTRAINT pk_set_keys PRIMARY KEY (set_id)
);
COMMENT ON COLUMN set_keys.draw_key IS 'Secret that the set''s draw follows from, until the run that drew it is closed.';
CREATE TABLE run_seals (
	run_id VARCHAR(80) NOT NULL, 
	share VARCHAR(64) NOT NULL, 
	plan TEXT NOT NULL, 
	exclusions TEXT NOT NULL, 
	parameters JSON, 
	CONSTRAINT pk_run_seals PRIMARY KEY (run_id)
);
COMMENT ON COLUMN run_seals.share IS 'The operator''s share of the seed; secret until the run is closed.';
COMMENT ON COLUMN run_seals.plan IS 'plan.json, which was committed to.';
COMMENT ON COLUMN run_seals.exclusions IS 'exclusions.json, which was committed to.';
COMMENT ON COLUMN run_seals.parameters IS 'What it is planned from again when it is drawn; null where it was drawn at once.';
CREATE TABLE set_proofs (
	set_id VARCHAR(100) NOT NULL, 
	drawn_in VARCHAR(80), 
	items JSON NOT NULL, 
	revisions JSON NOT NULL, 
	CONSTRAINT pk_set_proofs PRIMARY KEY (set_id)
);
COMMENT ON COLUMN set_proofs.drawn_in IS 'The run that drew it; null for a set older than the public log.';
COMMENT ON COLUMN set_proofs.items IS 'Its items as they are published when a run that sat it is closed.';
COMMENT ON COLUMN set_proofs.revisions IS 'Question to its revision.';
CREATE TABLE exposures (
	organisation VARCHAR(120) NOT NULL, 
	lineage_uuid VARCHAR(36) NOT NULL, 
	set_id VARCHAR(100) NOT NULL, 
	exposed_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_exposures PRIMARY KEY (organisation, lineage_uuid)
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
COMMENT ON COLUMN responses.signature IS 'The candidate''s, where it has enrolled a key.';
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
CREATE INDEX ix_run_archives_run ON run_archives (run_id);
COMMENT ON COLUMN run_archives.unit IS 'Its landing in `archived_rows`: the run, and the number of the part.';
COMMENT ON COLUMN run_archives.session_ids IS 'Whose rows they are.';
COMMENT ON COLUMN run_archives.rows_hash IS 'Hash over the rows as they lie in the lake.';
COMMENT ON COLUMN run_archives.row_counts IS 'Table to how many of its rows.';
COMMENT ON COLUMN run_archives.sums IS 'What is asked of the rows without reading them: answers, calls and their cost, pages.';
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
CREATE INDEX ix_llm_calls_run ON llm_calls (run_id);
CREATE INDEX ix_llm_calls_started_at ON llm_calls (started_at) WHERE purpose <> 'exam';
CREATE INDEX ix_llm_calls_finished_at ON llm_calls (finished_at) WHERE purpose <> 'exam';
CREATE INDEX ix_llm_calls_unit ON llm_calls (unit);
COMMENT ON COLUMN llm_calls.unit IS 'Session, or session and judge, or batch: what it is landed with.';
COMMENT ON COLUMN llm_calls.status IS 'started, done, failed';
COMMENT ON COLUMN llm_calls.reply IS 'What came back: text, reasoning, finish reason. Never the request.';
COMMENT ON COLUMN llm_calls.holder IS 'Who sent it last.';
COMMENT ON COLUMN llm_calls.extra_usd IS 'The most that attempts without a bill, and replies that came second, have cost.';
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
CREATE INDEX ix_call_batches_state ON call_batches (state);
COMMENT ON COLUMN call_batches.batch_id IS 'Ours; the provider has it as metadata.';
COMMENT ON COLUMN call_batches.state IS 'gathering, creating (sent, not acknowledged), created, ended, dropped (never sent), lost (never found).';
COMMENT ON COLUMN call_batches.file_hash IS 'SHA-256 of the requests as they were uploaded.';
COMMENT ON COLUMN call_batches.file_id IS 'The provider''s name of that file.';
COMMENT ON COLUMN call_batches.provider_status IS 'What the provider said of it last.';
COMMENT ON COLUMN call_batches.changed_at IS 'When it came into its state.';
CREATE TABLE batch_calls (
	batch_id VARCHAR(40) NOT NULL, 
	call_key VARCHAR(64) NOT NULL, 
	worst_usd FLOAT NOT NULL, 
	status VARCHAR(8) NOT NULL, 
	error VARCHAR(60), 
	CONSTRAINT pk_batch_calls PRIMARY KEY (batch_id, call_key), 
	CONSTRAINT ck_batch_calls_status CHECK (status in ('sent','done','failed'))
);
CREATE INDEX ix_batch_calls_call ON batch_calls (call_key);
COMMENT ON COLUMN batch_calls.worst_usd IS 'The most that it can cost, at the batch''s price.';
COMMENT ON COLUMN batch_calls.status IS 'sent, done, failed';
COMMENT ON COLUMN batch_calls.error IS '`batch_…` where the whole batch failed, else its own.';
CREATE TABLE process_leases (
	holder VARCHAR(40) NOT NULL, 
	host VARCHAR(255) NOT NULL, 
	process_id INTEGER NOT NULL, 
	expires_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_process_leases PRIMARY KEY (holder)
);
COMMENT ON COLUMN process_leases.holder IS 'Drawn for each client of models.';
COMMENT ON COLUMN process_leases.expires_at IS 'Renewed while the process works.';
CREATE TABLE provider_paces (
	name VARCHAR(300) NOT NULL, 
	next_at FLOAT NOT NULL, 
	paused_until FLOAT NOT NULL, 
	CONSTRAINT pk_provider_paces PRIMARY KEY (name)
);
COMMENT ON COLUMN provider_paces.name IS 'A provider, or a model with limits of its own.';
COMMENT ON COLUMN provider_paces.next_at IS 'Unix time of the first moment that is free.';
COMMENT ON COLUMN provider_paces.paused_until IS 'Unix time; nobody sends before it.';
CREATE TABLE run_budgets (
	run_id VARCHAR(200) NOT NULL, 
	spent_usd FLOAT NOT NULL, 
	CONSTRAINT pk_run_budgets PRIMARY KEY (run_id)
);
COMMENT ON COLUMN run_budgets.run_id IS 'The run, or what stands for one.';
COMMENT ON COLUMN run_budgets.spent_usd IS 'Unknown bills at the most they could be.';
CREATE TABLE budget_limits (
	number SERIAL NOT NULL, 
	run_id VARCHAR(200) NOT NULL, 
	limit_usd FLOAT NOT NULL, 
	reason TEXT NOT NULL, 
	set_by VARCHAR(120) NOT NULL, 
	set_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_budget_limits PRIMARY KEY (number)
);
CREATE INDEX ix_budget_limits_run_id ON budget_limits (run_id);
COMMENT ON COLUMN budget_limits.limit_usd IS 'The last of a run counts, in place of the one it was planned with.';
COMMENT ON COLUMN budget_limits.set_by IS 'The account on the host that set it.';
CREATE TABLE budget_shares (
	run_id VARCHAR(200) NOT NULL, 
	holder VARCHAR(40) NOT NULL, 
	host VARCHAR(255) NOT NULL, 
	process_id INTEGER NOT NULL, 
	reserved_usd FLOAT NOT NULL, 
	expires_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_budget_shares PRIMARY KEY (run_id, holder)
);
COMMENT ON COLUMN budget_shares.holder IS 'Drawn for each process.';
COMMENT ON COLUMN budget_shares.reserved_usd IS 'The most that its calls in flight could cost.';
COMMENT ON COLUMN budget_shares.expires_at IS 'Renewed by every call.';
CREATE TABLE annotator_profiles (
	user_id VARCHAR(120) NOT NULL, 
	language VARCHAR(2), 
	email VARCHAR(254), 
	daily_quota INTEGER, 
	due_days INTEGER, 
	levels JSON, 
	CONSTRAINT pk_annotator_profiles PRIMARY KEY (user_id)
);
COMMENT ON COLUMN annotator_profiles.language IS 'Language of what is written to them; null: that of their questions.';
COMMENT ON COLUMN annotator_profiles.email IS 'Where reminders go; null means none by e-mail.';
COMMENT ON COLUMN annotator_profiles.daily_quota IS 'Questions per day of the window; null means the setting.';
COMMENT ON COLUMN annotator_profiles.due_days IS 'Days of their window; null means the setting.';
COMMENT ON COLUMN annotator_profiles.levels IS 'novice, regular or expert by discipline; `*` for all others.';
CREATE TABLE review_batches (
	batch_id VARCHAR(80) NOT NULL, 
	status VARCHAR(12) NOT NULL, 
	review_count INTEGER NOT NULL, 
	created_at VARCHAR(32) NOT NULL, 
	due_at VARCHAR(32) NOT NULL, 
	closed_at VARCHAR(32), 
	CONSTRAINT pk_review_batches PRIMARY KEY (batch_id)
);
COMMENT ON COLUMN review_batches.status IS 'open, complete (all decided), closed (gate applied)';
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
COMMENT ON COLUMN review_gold.kind IS 'accepted, rejected or spoiled';
COMMENT ON COLUMN review_gold.expected IS 'The known decision: accept or reject.';
COMMENT ON COLUMN review_gold.true_answer IS 'The answer before it was spoiled; null for the other kinds.';
COMMENT ON COLUMN review_gold.source_uuid IS 'The settled question that it was made from.';
COMMENT ON COLUMN review_gold.source_batch IS 'The batch that settled that question.';
CREATE TABLE review_assignments (
	batch_id VARCHAR(80) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	annotator VARCHAR(120) NOT NULL, 
	role VARCHAR(12) NOT NULL, 
	assigned_at VARCHAR(32) NOT NULL, 
	due_at VARCHAR(32) NOT NULL, 
	place INTEGER DEFAULT '0' NOT NULL, 
	has_answer BOOLEAN DEFAULT true NOT NULL, 
	CONSTRAINT pk_review_assignments PRIMARY KEY (batch_id, question_uuid, annotator)
);
CREATE INDEX ix_review_assignments_queue ON review_assignments (annotator, batch_id, due_at, place);
COMMENT ON COLUMN review_assignments.place IS 'Place of the question in its batch, by paper and position.';
COMMENT ON COLUMN review_assignments.has_answer IS 'Whether the question came with an answer.';
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
CREATE INDEX ix_reviews_question_uuid ON reviews (question_uuid);
CREATE INDEX ix_reviews_annotator ON reviews (annotator, batch_id, decided_at);
COMMENT ON COLUMN reviews.guideline_version IS 'Guidelines under which it was given; null before the first version.';
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
CREATE INDEX ix_review_messages_annotator ON review_messages (annotator, batch_id);
COMMENT ON COLUMN review_messages.number IS 'From 1 for each question, in the order of writing.';
COMMENT ON COLUMN review_messages.annotator IS 'With whom; null: with everybody who has the question.';
COMMENT ON COLUMN review_messages.is_coordinator IS 'Whether a coordinator wrote it.';
CREATE TABLE guideline_versions (
	version INTEGER NOT NULL, 
	changes TEXT NOT NULL, 
	changes_zh TEXT, 
	published_by VARCHAR(120), 
	published_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_guideline_versions PRIMARY KEY (version)
);
COMMENT ON COLUMN guideline_versions.changes IS 'What changed, in the words of who published it.';
COMMENT ON COLUMN guideline_versions.changes_zh IS 'The same in Chinese, where it was written.';
COMMENT ON COLUMN guideline_versions.published_by IS 'Null where a command published it.';
CREATE TABLE guideline_readings (
	annotator VARCHAR(120) NOT NULL, 
	version INTEGER NOT NULL, 
	read_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_guideline_readings PRIMARY KEY (annotator, version)
);
CREATE TABLE review_drafts (
	batch_id VARCHAR(80) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	annotator VARCHAR(120) NOT NULL, 
	draft JSON NOT NULL, 
	saved_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_review_drafts PRIMARY KEY (batch_id, question_uuid, annotator)
);
COMMENT ON COLUMN review_drafts.draft IS 'What was begun and not given as a decision.';
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
CREATE INDEX ix_desk_marks_landed ON desk_marks (landed_at);
COMMENT ON COLUMN desk_marks.kind IS 'rating, label or league.';
COMMENT ON COLUMN desk_marks.work IS 'The round, the sample, or the league.';
COMMENT ON COLUMN desk_marks.item_key IS 'What is marked; it tells nothing.';
COMMENT ON COLUMN desk_marks.landed_at IS 'Null until the mark is in the lake.';
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
COMMENT ON COLUMN users.model IS 'Registry name, for candidates.';
COMMENT ON COLUMN users.disciplines IS 'Disciplines an annotator reviews; null means all.';
COMMENT ON COLUMN users.public_key IS 'Ed25519 key that the candidate signs its answers with, in base64.';
COMMENT ON COLUMN users.question_limit IS 'Most questions a candidate may be handed; null means no limit.';
CREATE TABLE organisations (
	organisation VARCHAR(120) NOT NULL, 
	name VARCHAR(120) DEFAULT '' NOT NULL, 
	same_as VARCHAR(120), 
	question_limit INTEGER, 
	created_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_organisations PRIMARY KEY (organisation)
);
COMMENT ON COLUMN organisations.organisation IS 'Its name in normal form (`sim:` before a simulated one). Locked in order before sets are claimed.';
COMMENT ON COLUMN organisations.name IS 'As it was first registered: what people read.';
COMMENT ON COLUMN organisations.same_as IS 'The organisation that this is another name of; null for itself.';
COMMENT ON COLUMN organisations.question_limit IS 'Most questions it may be handed; null means no limit.';
CREATE TABLE access_heads (
	day VARCHAR(10) NOT NULL, 
	session_id VARCHAR(80) NOT NULL, 
	entry_hash VARCHAR(64) NOT NULL, 
	kept_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_access_heads PRIMARY KEY (day, session_id)
);
CREATE TABLE log_keys (
	key_id VARCHAR(16) NOT NULL, 
	public_key VARCHAR(44) NOT NULL, 
	place VARCHAR(240) NOT NULL, 
	added_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_log_keys PRIMARY KEY (key_id)
);
COMMENT ON COLUMN log_keys.key_id IS 'First half of the SHA-256 of the public key.';
COMMENT ON COLUMN log_keys.public_key IS 'Ed25519, 32 bytes in base64.';
COMMENT ON COLUMN log_keys.place IS 'Host and home where it was made, as they were called then.';
CREATE TABLE approvals (
	approval_id SERIAL NOT NULL, 
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
CREATE INDEX ix_approvals_digest ON approvals (digest);
COMMENT ON COLUMN approvals.what IS 'plan, release, retire or override.';
COMMENT ON COLUMN approvals.target IS 'The run, session, question or edition.';
COMMENT ON COLUMN approvals.digest IS 'SHA-256 of what exactly is asked.';
COMMENT ON COLUMN approvals.parameters IS 'What exactly is asked.';
COMMENT ON COLUMN approvals.asked_by IS 'A user, or the account of a host.';
COMMENT ON COLUMN approvals.stood_by IS 'The user who answers for the request; null: nobody yet.';
COMMENT ON COLUMN approvals.expires_at IS 'From then on it is worth nothing.';
COMMENT ON COLUMN approvals.state IS 'asked, approved, refused or used.';
COMMENT ON COLUMN approvals.decided_by IS 'The user who approved or refused.';
COMMENT ON COLUMN approvals.used_at IS 'When it was done as asked.';
COMMENT ON COLUMN approvals.open_digest IS 'The digest while it is open: what is asked twice is one request.';
CREATE TABLE edition_roots (
	edition_id TEXT NOT NULL, 
	root_hash TEXT NOT NULL, 
	kept_at TEXT NOT NULL, 
	CONSTRAINT pk_edition_roots PRIMARY KEY (edition_id)
);
COMMENT ON COLUMN edition_roots.root_hash IS 'SHA-256 over every frozen row; kept once, never changed.';
CREATE TABLE stage_leaves (
	stage VARCHAR(40) NOT NULL, 
	unit VARCHAR(200) NOT NULL, 
	leaves TEXT NOT NULL, 
	CONSTRAINT pk_stage_leaves PRIMARY KEY (stage, unit)
);
COMMENT ON COLUMN stage_leaves.leaves IS 'A hash of each row''s key and one of the row, in order of key, in base64.';
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
COMMENT ON COLUMN erasures.erasure_id IS 'The run, and the number of its erasure.';
COMMENT ON COLUMN erasures.cause IS 'policy or withdrawal';
COMMENT ON COLUMN erasures.erased_by IS 'A user, or the account of a host.';
COMMENT ON COLUMN erasures.digest IS 'SHA-256 over all of it; the audit log has it, too.';
COMMENT ON COLUMN erasures.finished_at IS 'When no file held the texts any more; null: not yet.';
CREATE TABLE erased_answers (
	session_id VARCHAR(80) NOT NULL, 
	seq INTEGER NOT NULL, 
	erasure_id VARCHAR(120) NOT NULL, 
	answer_hash VARCHAR(64) NOT NULL, 
	kept_digest VARCHAR(64) NOT NULL, 
	CONSTRAINT pk_erased_answers PRIMARY KEY (session_id, seq)
);
CREATE INDEX ix_erased_answers_erasure ON erased_answers (erasure_id);
COMMENT ON COLUMN erased_answers.answer_hash IS 'SHA-256 of the text that was there.';
COMMENT ON COLUMN erased_answers.kept_digest IS 'SHA-256 of what is kept beside the text.';
CREATE TABLE sets (
	set_id VARCHAR(100) NOT NULL, 
	lineage_uuid VARCHAR(36) NOT NULL, 
	question_uuid VARCHAR(36) NOT NULL, 
	discipline VARCHAR(40) NOT NULL, 
	is_anchor BOOLEAN DEFAULT false NOT NULL, 
	content JSON NOT NULL, 
	CONSTRAINT pk_sets PRIMARY KEY (set_id, lineage_uuid), 
	CONSTRAINT fk_sets_set_id FOREIGN KEY(set_id) REFERENCES set_numbers (set_id)
);
COMMENT ON COLUMN sets.content IS 'Bare content: what a candidate may see, nothing else.';
CREATE TABLE set_claims (
	organisation VARCHAR(120) NOT NULL, 
	set_id VARCHAR(100) NOT NULL, 
	run_id VARCHAR(80) NOT NULL, 
	is_reference BOOLEAN DEFAULT false NOT NULL, 
	claimed_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_set_claims PRIMARY KEY (organisation, set_id), 
	CONSTRAINT fk_set_claims_set_id FOREIGN KEY(set_id) REFERENCES set_numbers (set_id)
);
COMMENT ON COLUMN set_claims.is_reference IS 'Met in sittings of the reference only.';
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
	is_outside BOOLEAN DEFAULT false NOT NULL, 
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
CREATE INDEX ix_sessions_run ON sessions (run_id);
CREATE INDEX ix_sessions_user ON sessions (user_id);
CREATE INDEX ix_sessions_set ON sessions (set_id);
CREATE INDEX ix_sessions_organisation ON sessions (organisation);
COMMENT ON COLUMN sessions.user_id IS 'The candidate user who may sit it.';
COMMENT ON COLUMN sessions.is_outside IS 'Sat by the candidate''s own client.';
COMMENT ON COLUMN sessions.fingerprint IS 'What its answers depend on besides the questions, as JSON of short hashes.';
COMMENT ON COLUMN sessions.next_seq IS 'First position not handed out yet.';
COMMENT ON COLUMN sessions.answered_count IS 'Answered, or given up when time was over.';
COMMENT ON COLUMN sessions.lease_hash IS 'SHA-256 of the lease secret.';
COMMENT ON COLUMN sessions.lease_expires_at IS 'Unix time.';
COMMENT ON COLUMN sessions.access_hash IS 'Head of the session''s chain in access_log.';
COMMENT ON COLUMN sessions.deadline_at IS 'Nothing is taken after it; null until it is set.';
COMMENT ON COLUMN sessions.question_s IS 'Seconds for each question handed out; null means no limit.';
COMMENT ON COLUMN sessions.close_reason IS 'Why it was closed unfinished; null where it was not.';
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
CREATE INDEX ix_review_questions_question_uuid ON review_questions (question_uuid);
COMMENT ON COLUMN review_questions.document_id IS 'Null for a variant written by a model.';
COMMENT ON COLUMN review_questions.content IS 'The question as it is shown to annotators.';
CREATE TABLE web_sessions (
	session_hash VARCHAR(64) NOT NULL, 
	user_id VARCHAR(120) NOT NULL, 
	started_at VARCHAR(32) NOT NULL, 
	expires_at VARCHAR(32) NOT NULL, 
	CONSTRAINT pk_web_sessions PRIMARY KEY (session_hash), 
	CONSTRAINT fk_web_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (user_id)
);
CREATE INDEX ix_web_sessions_user ON web_sessions (user_id);
COMMENT ON COLUMN web_sessions.session_hash IS 'SHA-256 of what the cookie names.';
CREATE TABLE signed_heads (
	number SERIAL NOT NULL, 
	entry_hash VARCHAR(64) NOT NULL, 
	key_id VARCHAR(16) NOT NULL, 
	signed_at VARCHAR(32) NOT NULL, 
	signature VARCHAR(88) NOT NULL, 
	CONSTRAINT pk_signed_heads PRIMARY KEY (number), 
	CONSTRAINT fk_signed_heads_key_id FOREIGN KEY(key_id) REFERENCES log_keys (key_id)
);
COMMENT ON COLUMN signed_heads.number IS 'Number of the entry that was the last one.';
COMMENT ON COLUMN signed_heads.signature IS 'Ed25519, in base64.';
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
COMMENT ON COLUMN allocations.error IS 'Error class of the last call that failed for good; null for none.';
INSERT INTO access_chain (chain, number, entry_hash) VALUES (1::INTEGER, 0::INTEGER, '0000000000000000000000000000000000000000000000000000000000000000'::VARCHAR);
INSERT INTO public_head (chain, number, line_hash, ends_at) VALUES (1::INTEGER, 0::INTEGER, '0000000000000000000000000000000000000000000000000000000000000000'::VARCHAR, 0::BIGINT);
CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY);
INSERT INTO alembic_version VALUES ('1002');
