BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'assay','m001_studies','2026-11-29 01:30:38.674947+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'assay','m002_real_raters','2026-11-29 01:30:38.676077+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'assay','m003_runs','2026-11-29 01:30:38.676361+00:00');
INSERT INTO "_sqlite_migrations" VALUES(4,'assay','m004_scores','2026-11-29 01:30:38.676614+00:00');
INSERT INTO "_sqlite_migrations" VALUES(5,'assay','m005_ratings','2026-11-29 01:30:38.689859+00:00');
INSERT INTO "_sqlite_migrations" VALUES(6,'assay','m006_analysis_set','2026-11-29 01:30:38.691135+00:00');
INSERT INTO "_sqlite_migrations" VALUES(7,'assay','m007_run_data','2026-11-29 01:30:38.692958+00:00');
INSERT INTO "_sqlite_migrations" VALUES(8,'assay','m008_scores_of_a_text','2026-11-29 01:30:38.710885+00:00');
INSERT INTO "_sqlite_migrations" VALUES(9,'assay','m009_calls_seen','2026-11-29 01:30:38.712913+00:00');
INSERT INTO "_sqlite_migrations" VALUES(10,'assay','m010_early_looks','2026-11-29 01:30:38.732337+00:00');
INSERT INTO "_sqlite_migrations" VALUES(11,'assay','m011_inclusion','2026-11-29 01:30:38.732603+00:00');
CREATE TABLE "admin_session" (
    "token_sha256" TEXT PRIMARY KEY, "created_utc" TEXT NOT NULL, "expires_utc" TEXT NOT NULL
) STRICT;
INSERT INTO "admin_session" VALUES('7374a7f71180e7469fe782fc07d791630232715193a9263b7f7a61f539be8616','2026-11-29T01:30:39.756Z','2026-12-06T01:30:39.756Z');
INSERT INTO "admin_session" VALUES('e48148805173acd46b599c1d49126ed3e8fef61e3c8b946db80987a7d06daa6a','2026-11-29T01:30:40.673Z','2026-12-06T01:30:40.673Z');
CREATE TABLE "answer" (
    "study_id" INTEGER NOT NULL REFERENCES "study"("id"), "rater_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "repeat" INTEGER NOT NULL, "choice" TEXT,
    "preference" TEXT, "shown_utc" TEXT, "answered_utc" TEXT, "seconds" REAL, "diff_used" TEXT,
    "comment" TEXT NOT NULL, "invalid" INTEGER NOT NULL, "skipped" INTEGER NOT NULL, "app_version" TEXT, PRIMARY KEY ("study_id", "rater_id", "item_id", "level", "repeat")
) STRICT;
INSERT INTO "answer" VALUES(1,'R1','q00','A0',0,'left',NULL,'2026-11-29T01:30:36.263Z','2026-11-29T01:30:38.763Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'R1','q00','A1',0,'left',NULL,'2026-11-29T01:30:36.264Z','2026-11-29T01:30:38.764Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'R1','q01','A0',0,'right',NULL,'2026-11-29T01:30:36.264Z','2026-11-29T01:30:38.764Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'R1','q01','A1',0,'right',NULL,'2026-11-29T01:30:36.264Z','2026-11-29T01:30:38.764Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'R2','q01','A0',0,'both_good',NULL,'2026-11-29T01:30:36.274Z','2026-11-29T01:30:38.774Z',2.5,'own_a0','a
b ''quoted'' 日本語',1,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'R2','q01','A1',0,'left',NULL,NULL,'2026-11-29T01:30:38.774Z',NULL,'none','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'R2','q00','A0',0,'both_good',NULL,'2026-11-29T01:30:36.274Z','2026-11-29T01:30:38.774Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'R2','q00','A1',0,'both_good',NULL,'2026-11-29T01:30:36.274Z','2026-11-29T01:30:38.774Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q00','A0',0,'both_bad',NULL,'2026-11-29T01:30:36.277Z','2026-11-29T01:30:38.777Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q00','A1',0,'both_bad',NULL,'2026-11-29T01:30:36.277Z','2026-11-29T01:30:38.777Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q01','A0',0,'both_bad',NULL,'2026-11-29T01:30:36.277Z','2026-11-29T01:30:38.777Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q01','A1',0,'both_bad',NULL,'2026-11-29T01:30:36.278Z','2026-11-29T01:30:38.778Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'old','q00','A0',0,NULL,'candidate',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer" VALUES(1,'withdrawn-1','q00','A0',0,'left',NULL,'2026-11-29T01:30:36.280Z','2026-11-29T01:30:38.780Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'withdrawn-1','q00','A1',0,'left',NULL,'2026-11-29T01:30:36.280Z','2026-11-29T01:30:38.780Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'withdrawn-1','q01','A0',0,'left',NULL,'2026-11-29T01:30:36.285Z','2026-11-29T01:30:38.785Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'withdrawn-1','q01','A1',0,'left',NULL,'2026-11-29T01:30:36.285Z','2026-11-29T01:30:38.785Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'R1','q01','',0,'right',NULL,'2026-11-29T01:30:36.317Z','2026-11-29T01:30:38.817Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'R1','q02','',0,'right',NULL,'2026-11-29T01:30:36.318Z','2026-11-29T01:30:38.818Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'R1','q00','',0,'left',NULL,'2026-11-29T01:30:36.318Z','2026-11-29T01:30:38.818Z',2.5,'own_a0','',0,0,'0.1.0');
CREATE TABLE "answer_history" (
    "id" INTEGER PRIMARY KEY, "saved_utc" TEXT NOT NULL,
    "study_id" INTEGER NOT NULL REFERENCES "study"("id"), "rater_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "repeat" INTEGER NOT NULL, "choice" TEXT,
    "preference" TEXT, "shown_utc" TEXT, "answered_utc" TEXT, "seconds" REAL, "diff_used" TEXT,
    "comment" TEXT NOT NULL, "invalid" INTEGER NOT NULL, "skipped" INTEGER NOT NULL, "app_version" TEXT
) STRICT;
INSERT INTO "answer_history" VALUES(1,'2026-11-29T01:30:38.763Z',1,'R1','q00','A0',0,'left',NULL,'2026-11-29T01:30:36.263Z','2026-11-29T01:30:38.763Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(2,'2026-11-29T01:30:38.764Z',1,'R1','q00','A1',0,'left',NULL,'2026-11-29T01:30:36.264Z','2026-11-29T01:30:38.764Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(3,'2026-11-29T01:30:38.764Z',1,'R1','q01','A0',0,'right',NULL,'2026-11-29T01:30:36.264Z','2026-11-29T01:30:38.764Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(4,'2026-11-29T01:30:38.765Z',1,'R1','q01','A1',0,'right',NULL,'2026-11-29T01:30:36.264Z','2026-11-29T01:30:38.764Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(5,'2026-11-29T01:30:38.774Z',1,'R2','q01','A0',0,'both_good',NULL,'2026-11-29T01:30:36.274Z','2026-11-29T01:30:38.774Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(6,'2026-11-29T01:30:38.774Z',1,'R2','q01','A1',0,'both_good',NULL,'2026-11-29T01:30:36.274Z','2026-11-29T01:30:38.774Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(7,'2026-11-29T01:30:38.774Z',1,'R2','q00','A0',0,'both_good',NULL,'2026-11-29T01:30:36.274Z','2026-11-29T01:30:38.774Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(8,'2026-11-29T01:30:38.774Z',1,'R2','q00','A1',0,'both_good',NULL,'2026-11-29T01:30:36.274Z','2026-11-29T01:30:38.774Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(9,'2026-11-29T01:30:38.775Z',1,'R2','q01','A1',0,'left',NULL,NULL,'2026-11-29T01:30:38.774Z',NULL,'none','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(10,'2026-11-29T01:30:38.775Z',1,'R2','q01','A0',0,'both_good',NULL,'2026-11-29T01:30:36.274Z','2026-11-29T01:30:38.774Z',2.5,'own_a0','a
b ''quoted'' 日本語',1,0,'0.1.0');
INSERT INTO "answer_history" VALUES(11,'2026-11-29T01:30:38.777Z',1,'preview-1','q00','A0',0,'both_bad',NULL,'2026-11-29T01:30:36.277Z','2026-11-29T01:30:38.777Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(12,'2026-11-29T01:30:38.777Z',1,'preview-1','q00','A1',0,'both_bad',NULL,'2026-11-29T01:30:36.277Z','2026-11-29T01:30:38.777Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(13,'2026-11-29T01:30:38.778Z',1,'preview-1','q01','A0',0,'both_bad',NULL,'2026-11-29T01:30:36.277Z','2026-11-29T01:30:38.777Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(14,'2026-11-29T01:30:38.778Z',1,'preview-1','q01','A1',0,'both_bad',NULL,'2026-11-29T01:30:36.278Z','2026-11-29T01:30:38.778Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(15,'2026-11-29T01:30:38.778Z',1,'old','q00','A0',0,NULL,'candidate',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer_history" VALUES(16,'2026-11-29T01:30:38.780Z',1,'withdrawn-1','q00','A0',0,'left',NULL,'2026-11-29T01:30:36.280Z','2026-11-29T01:30:38.780Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(17,'2026-11-29T01:30:38.780Z',1,'withdrawn-1','q00','A1',0,'left',NULL,'2026-11-29T01:30:36.280Z','2026-11-29T01:30:38.780Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(18,'2026-11-29T01:30:38.785Z',1,'withdrawn-1','q01','A0',0,'left',NULL,'2026-11-29T01:30:36.285Z','2026-11-29T01:30:38.785Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(19,'2026-11-29T01:30:38.785Z',1,'withdrawn-1','q01','A1',0,'left',NULL,'2026-11-29T01:30:36.285Z','2026-11-29T01:30:38.785Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(20,'2026-11-29T01:30:38.817Z',2,'R1','q01','',0,'right',NULL,'2026-11-29T01:30:36.317Z','2026-11-29T01:30:38.817Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(21,'2026-11-29T01:30:38.818Z',2,'R1','q02','',0,'right',NULL,'2026-11-29T01:30:36.318Z','2026-11-29T01:30:38.818Z',2.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(22,'2026-11-29T01:30:38.818Z',2,'R1','q00','',0,'left',NULL,'2026-11-29T01:30:36.318Z','2026-11-29T01:30:38.818Z',2.5,'own_a0','',0,0,'0.1.0');
CREATE TABLE "assignment" (
    "study_id" INTEGER REFERENCES "study"("id"), "rater_id" TEXT, "position" INTEGER,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "left" TEXT NOT NULL, "right" TEXT NOT NULL,
    "repeat" INTEGER NOT NULL, PRIMARY KEY ("study_id", "rater_id", "position")
) STRICT;
INSERT INTO "assignment" VALUES(1,'R1',1,'q00','A0','ai','human',0);
INSERT INTO "assignment" VALUES(1,'R1',2,'q00','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'R1',3,'q01','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'R1',4,'q01','A1','human','ai',0);
INSERT INTO "assignment" VALUES(1,'R2',1,'q01','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'R2',2,'q01','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'R2',3,'q00','A0','ai','human',0);
INSERT INTO "assignment" VALUES(1,'R2',4,'q00','A1','human','ai',0);
INSERT INTO "assignment" VALUES(1,'withdrawn-1',1,'q00','A0','ai','human',0);
INSERT INTO "assignment" VALUES(1,'withdrawn-1',2,'q00','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'withdrawn-1',3,'q01','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'withdrawn-1',4,'q01','A1','human','ai',0);
INSERT INTO "assignment" VALUES(1,'preview-1',1,'q00','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'preview-1',2,'q00','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'preview-1',3,'q01','A0','ai','human',0);
INSERT INTO "assignment" VALUES(1,'preview-1',4,'q01','A1','human','ai',0);
INSERT INTO "assignment" VALUES(2,'R1',1,'q01','','ai','human',0);
INSERT INTO "assignment" VALUES(2,'R1',2,'q02','','ai','human',0);
INSERT INTO "assignment" VALUES(2,'R1',3,'q00','','human','ai',0);
CREATE TABLE entered_question (study_id INTEGER REFERENCES study(id), position INTEGER,
    item_id TEXT NOT NULL, mean REAL, votes INTEGER NOT NULL, entered_utc TEXT NOT NULL,
    PRIMARY KEY (study_id, position), UNIQUE (study_id, item_id)) STRICT;
INSERT INTO "entered_question" VALUES(2,1,'q01',-1.0,1,'2026-11-29T01:30:38.819Z');
INSERT INTO "entered_question" VALUES(2,2,'q02',-1.0,1,'2026-11-29T01:30:38.819Z');
INSERT INTO "entered_question" VALUES(2,3,'q00',-1.0,1,'2026-11-29T01:30:38.819Z');
CREATE TABLE "event" (
    "id" INTEGER PRIMARY KEY, "kind" TEXT NOT NULL, "address" TEXT NOT NULL, "n" INTEGER NOT NULL,
    "first_utc" TEXT NOT NULL, "last_utc" TEXT NOT NULL
) STRICT;
INSERT INTO "event" VALUES(1,'one-time link made','',1,'2026-11-29T01:30:38.900Z','2026-11-29T01:30:38.900Z');
INSERT INTO "event" VALUES(2,'passphrase chosen','',1,'2026-11-29T01:30:39.756Z','2026-11-29T01:30:39.756Z');
INSERT INTO "event" VALUES(3,'admin signed in','here',1,'2026-11-29T01:30:40.652Z','2026-11-29T01:30:40.652Z');
INSERT INTO "event" VALUES(4,'refused','1.2.3.4',1,'2026-11-29T01:30:40.673Z','2026-11-29T01:30:40.673Z');
CREATE TABLE "guess" (
    "study_id" INTEGER REFERENCES "study"("id"), "rater_id" TEXT, "item_id" TEXT, "level" TEXT,
    "guess" TEXT NOT NULL, "comment" TEXT NOT NULL, "answered_utc" TEXT NOT NULL, "seconds" REAL,
    "app_version" TEXT, PRIMARY KEY ("study_id", "rater_id", "item_id", "level")
) STRICT;
INSERT INTO "guess" VALUES(1,'R1','q01','A1','right','','2026-11-29T01:30:38.771Z',1.5,'0.1.0');
INSERT INTO "guess" VALUES(1,'R1','q00','A1','unsure','','2026-11-29T01:30:38.772Z',1.5,'0.1.0');
INSERT INTO "guess" VALUES(1,'R1','q01','A0','left','','2026-11-29T01:30:38.772Z',1.5,'0.1.0');
INSERT INTO "guess" VALUES(1,'R1','q00','A0','right','','2026-11-29T01:30:38.773Z',1.5,'0.1.0');
INSERT INTO "guess" VALUES(1,'withdrawn-1','q01','A0','right','','2026-11-29T01:30:38.786Z',1.5,'0.1.0');
INSERT INTO "guess" VALUES(1,'withdrawn-1','q01','A1','unsure','','2026-11-29T01:30:38.786Z',1.5,'0.1.0');
INSERT INTO "guess" VALUES(1,'withdrawn-1','q00','A1','left','','2026-11-29T01:30:38.786Z',1.5,'0.1.0');
INSERT INTO "guess" VALUES(1,'withdrawn-1','q00','A0','right','','2026-11-29T01:30:38.787Z',1.5,'0.1.0');
CREATE TABLE "guideline" (
    "study_id" INTEGER REFERENCES "study"("id"), "language" TEXT, "text" TEXT NOT NULL,
    PRIMARY KEY ("study_id", "language")
) STRICT;
INSERT INTO "guideline" VALUES(1,'de','Lesen Sie in Ruhe.');
CREATE TABLE inclusion (study_id INTEGER REFERENCES study(id), item_id TEXT, level TEXT, source TEXT,
    probability REAL NOT NULL CHECK (probability > 0 AND probability <= 1),
    PRIMARY KEY (study_id, item_id, level, source)) STRICT;
INSERT INTO "inclusion" VALUES(3,'zq-item-0','','zq-north',0.25);
INSERT INTO "inclusion" VALUES(3,'zq-item-0','','zq-south',0.25);
CREATE TABLE "item" (
    "study_id" INTEGER REFERENCES "study"("id"), "position" INTEGER NOT NULL, "item_id" TEXT,
    "question" TEXT NOT NULL, "reference" TEXT NOT NULL, "language" TEXT NOT NULL,
    PRIMARY KEY ("study_id", "item_id")
) STRICT;
INSERT INTO "item" VALUES(1,0,'q00','Question q00?','Reference q00.','en');
INSERT INTO "item" VALUES(1,1,'q01','Question q01?','Reference q01.','ja');
INSERT INTO "item" VALUES(2,0,'q00','Question q00?','Reference q00.','en');
INSERT INTO "item" VALUES(2,1,'q01','Question q01?','Reference q01.','en');
INSERT INTO "item" VALUES(2,2,'q02','Question q02?','Reference q02.','en');
INSERT INTO "item" VALUES(3,0,'zq-item-0','Source 0.','Reference 0.','und');
INSERT INTO "item" VALUES(3,1,'zq-item-1','Source 1.','Reference 1.','und');
CREATE TABLE "kept_file" (
    "id" INTEGER PRIMARY KEY, "kind" TEXT NOT NULL, "file_name" TEXT NOT NULL, "sha256" TEXT NOT NULL,
    "data" BLOB NOT NULL, "options" TEXT NOT NULL, "created_utc" TEXT NOT NULL
) STRICT;
INSERT INTO "kept_file" VALUES(1,'ratings','old.csv','1eb7c54d52831bbfe8942af0b1c56b7409523a59ed6ca99c1174fef7eb32c1b5',X'612C62','{"dimension": "ß"}','2026-11-29T01:30:38.900Z');
CREATE TABLE "log" (
    "id" INTEGER PRIMARY KEY, "study_id" INTEGER NOT NULL REFERENCES "study"("id"),
    "at_utc" TEXT NOT NULL, "action" TEXT NOT NULL, "detail" TEXT NOT NULL
, rater_id TEXT) STRICT;
INSERT INTO "log" VALUES(1,1,'2026-11-29T01:30:38.749Z','imported','answers.json, sha256 4da94f7ab13842d92f35deb8983d2edfe02631ff460c4080f4733de155b57fd4',NULL);
INSERT INTO "log" VALUES(2,1,'2026-11-29T01:30:38.749Z','declared','candidate ai, comparator human, margin 0.1, confidence level 0.9, seed 7, votes per pair from all raters, levels fixed, hidden repeats 20%, guesses at the end 10 (a person wrote the comparator''s); main analysis: levels A1; a pair needs 2 votes, or fewer if it cannot get as many; composite score; votes on flagged pairs count',NULL);
INSERT INTO "log" VALUES(3,1,'2026-11-29T01:30:38.753Z','rater added','','R1');
INSERT INTO "log" VALUES(4,1,'2026-11-29T01:30:38.753Z','rater added','','R2');
INSERT INTO "log" VALUES(5,1,'2026-11-29T01:30:38.754Z','rater added','','withdrawn-1');
INSERT INTO "log" VALUES(6,1,'2026-11-29T01:30:38.758Z','open','',NULL);
INSERT INTO "log" VALUES(7,1,'2026-11-29T01:30:38.761Z','wording changed','de: consent, left',NULL);
INSERT INTO "log" VALUES(8,1,'2026-11-29T01:30:38.761Z','guidelines changed','de',NULL);
INSERT INTO "log" VALUES(9,1,'2026-11-29T01:30:38.775Z','preview added','','preview-1');
INSERT INTO "log" VALUES(10,1,'2026-11-29T01:30:38.778Z','votes imported','1 preferences, side and time unknown','old');
INSERT INTO "log" VALUES(11,1,'2026-11-29T01:30:38.779Z','link revoked','','R2');
INSERT INTO "log" VALUES(12,1,'2026-11-29T01:30:38.779Z','link issued again','','R2');
INSERT INTO "log" VALUES(13,1,'2026-11-29T01:30:38.780Z','rater excluded','pressed without reading','R2');
INSERT INTO "log" VALUES(14,1,'2026-11-29T01:30:38.787Z','rater withdrew','comments and pseudonym deleted, votes kept','withdrawn-1');
INSERT INTO "log" VALUES(15,1,'2026-11-29T01:30:38.803Z','closed','',NULL);
INSERT INTO "log" VALUES(16,1,'2026-11-29T01:30:38.804Z','unblinded','all raters are done',NULL);
INSERT INTO "log" VALUES(17,2,'2026-11-29T01:30:38.810Z','imported','answers.json, sha256 83bf7fcd913e81d35f0d0e94ed1ec0611e8e3b4909c23b00ef9f076f205e67c6',NULL);
INSERT INTO "log" VALUES(18,2,'2026-11-29T01:30:38.810Z','declared','candidate ai, comparator human, margin 0.1, confidence level 0.9, seed 7, votes per pair from all raters, hidden repeats 0%, guesses at the end none; main analysis: all pairs; a pair needs 2 votes, or fewer if it cannot get as many; composite score; votes on flagged pairs count; early looks with an always-valid bound',NULL);
INSERT INTO "log" VALUES(19,2,'2026-11-29T01:30:38.811Z','rater added','','R1');
INSERT INTO "log" VALUES(20,2,'2026-11-29T01:30:38.812Z','open','',NULL);
INSERT INTO "log" VALUES(21,2,'2026-11-29T01:30:38.819Z','looked early','by test: 3 of 3 questions, bound -1.000, Continue',NULL);
INSERT INTO "log" VALUES(22,2,'2026-11-29T01:30:38.820Z','closed','',NULL);
INSERT INTO "log" VALUES(23,2,'2026-11-29T01:30:38.822Z','unblinded','all raters are done',NULL);
INSERT INTO "log" VALUES(24,3,'2026-11-29T01:30:38.828Z','imported','zq-file.jsonl, sha256 f653e05a7a9aa71cd34ff7130644a48bcf40d137106a7fc65100067ca730df02',NULL);
INSERT INTO "log" VALUES(25,3,'2026-11-29T01:30:38.833Z','declared','task both; seed 7, ratings per item from all raters, hidden repeats 5%',NULL);
INSERT INTO "log" VALUES(26,3,'2026-11-29T01:30:38.841Z','rater added','','R1');
INSERT INTO "log" VALUES(27,3,'2026-11-29T01:30:38.841Z','rater added','','R2');
INSERT INTO "log" VALUES(28,3,'2026-11-29T01:30:38.843Z','open','',NULL);
INSERT INTO "log" VALUES(29,3,'2026-11-29T01:30:38.874Z','closed','',NULL);
INSERT INTO "log" VALUES(30,3,'2026-11-29T01:30:38.874Z','unblinded','all raters are done',NULL);
CREATE TABLE "output" (
    "study_id" INTEGER REFERENCES "study"("id"), "item_id" TEXT, "level" TEXT, "source" TEXT,
    "text" TEXT NOT NULL, PRIMARY KEY ("study_id", "item_id", "level", "source")
) STRICT;
INSERT INTO "output" VALUES(1,'q00','A0','ai','Alpha text of q00 at A0.');
INSERT INTO "output" VALUES(1,'q00','A0','human','Beta text of q00 at A0.');
INSERT INTO "output" VALUES(1,'q00','A1','ai','Alpha text of q00 at A1.');
INSERT INTO "output" VALUES(1,'q00','A1','human','Beta text of q00 at A1.');
INSERT INTO "output" VALUES(1,'q01','A0','ai','Alpha text of q01 at A0.');
INSERT INTO "output" VALUES(1,'q01','A0','human','Beta text of q01 at A0.');
INSERT INTO "output" VALUES(1,'q01','A1','ai','Alpha text of q01 at A1.');
INSERT INTO "output" VALUES(1,'q01','A1','human','Beta text of q01 at A1.');
INSERT INTO "output" VALUES(2,'q00','','ai','Alpha text of q00 at .');
INSERT INTO "output" VALUES(2,'q00','','human','Beta text of q00 at .');
INSERT INTO "output" VALUES(2,'q01','','ai','Alpha text of q01 at .');
INSERT INTO "output" VALUES(2,'q01','','human','Beta text of q01 at .');
INSERT INTO "output" VALUES(2,'q02','','ai','Alpha text of q02 at .');
INSERT INTO "output" VALUES(2,'q02','','human','Beta text of q02 at .');
INSERT INTO "output" VALUES(3,'zq-item-0','','zq-north','Text 0.0.0 café 👩‍🔬 text.');
INSERT INTO "output" VALUES(3,'zq-item-0','','zq-south','Text 0.1.0 café 👩‍🔬 text.');
INSERT INTO "output" VALUES(3,'zq-item-1','','zq-north','Text 1.0.0 café 👩‍🔬 text.');
INSERT INTO "output" VALUES(3,'zq-item-1','','zq-south','Text 1.1.0 café 👩‍🔬 text.');
CREATE TABLE "rater" (
    "study_id" INTEGER REFERENCES "study"("id"), "rater_id" TEXT, "dry_run" INTEGER NOT NULL,
    "imported" INTEGER NOT NULL, "language" TEXT, "created_utc" TEXT NOT NULL,
    "revoked" INTEGER NOT NULL, "link_number" INTEGER NOT NULL, "token_sha256" TEXT,
    "onboarding" INTEGER NOT NULL, "diff_mode" TEXT, consent_utc TEXT, finished_utc TEXT, excluded TEXT, withdrawn INTEGER NOT NULL DEFAULT 0, PRIMARY KEY ("study_id", "rater_id")
) STRICT;
INSERT INTO "rater" VALUES(1,'R1',0,0,NULL,'2026-11-29T01:30:38.753Z',0,1,'2d7a1224983c6bae3612f5c4694631e6961db7c15f737b5b0cf02187e464a7c7',0,'own_a0','2026-11-29T01:30:38.762Z','2026-11-29T01:30:38.769Z',NULL,0);
INSERT INTO "rater" VALUES(1,'R2',0,0,NULL,'2026-11-29T01:30:38.753Z',0,2,'64dd056306afc25d6d1828a415b3e017e32664765cdc1db2a759d28883d7a1ee',0,'own_a0',NULL,NULL,'pressed without reading',0);
INSERT INTO "rater" VALUES(1,'withdrawn-1',0,0,NULL,'2026-11-29T01:30:38.753Z',1,1,NULL,0,'own_a0',NULL,'2026-11-29T01:30:38.786Z',NULL,1);
INSERT INTO "rater" VALUES(1,'preview-1',1,0,NULL,'2026-11-29T01:30:38.775Z',0,1,'fc5961a8598728a92c7840ee36e919afb469c266501be50e476403bc588b58d1',0,'own_a0',NULL,NULL,NULL,0);
INSERT INTO "rater" VALUES(1,'old',0,1,NULL,'2026-11-29T01:30:38.778Z',0,0,NULL,0,'own_a0',NULL,NULL,NULL,0);
INSERT INTO "rater" VALUES(2,'R1',0,0,NULL,'2026-11-29T01:30:38.810Z',0,1,'bf6edca8c938d044e49990edda310bb9df97a187d31584fcb825709fd8bae42a',0,'own_a0',NULL,NULL,NULL,0);
INSERT INTO "rater" VALUES(3,'R1',0,0,NULL,'2026-11-29T01:30:38.841Z',0,1,'4872eff98b9dbbd30fa3fbfe3d28d0213dda9ba8ea1c03f6c019f3afc15c3555',0,'own_a0',NULL,NULL,NULL,0);
INSERT INTO "rater" VALUES(3,'R2',0,0,NULL,'2026-11-29T01:30:38.841Z',0,1,'5a2542bdda7c5bc77358e45a0a71fd2669bf6092011e320189c15d07e0bac15a',0,'own_a0',NULL,NULL,NULL,0);
CREATE TABLE "rating_answer" (
    "study_id" INTEGER NOT NULL REFERENCES "study"("id"), "rater_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "source" TEXT NOT NULL, "repeat" INTEGER NOT NULL,
    "scores" TEXT NOT NULL, "spans" TEXT NOT NULL, "no_errors" INTEGER NOT NULL, "done" INTEGER NOT NULL,
    "shown_utc" TEXT, "answered_utc" TEXT, "seconds" REAL, "comment" TEXT NOT NULL,
    "invalid" INTEGER NOT NULL, "skipped" INTEGER NOT NULL, "app_version" TEXT,
    PRIMARY KEY ("study_id", "rater_id", "item_id", "level", "source", "repeat")
) STRICT;
INSERT INTO "rating_answer" VALUES(3,'R1','zq-item-0','','zq-north',0,'{"overall": 0.0, "H": 1.0}','[{"start": 0, "end": 4, "severity": "major", "category": "accuracy/omission", "weight": null, "in_source": false}]',0,1,'2026-11-29T01:30:18.857Z','2026-11-29T01:30:38.857Z',20.0,'',0,0,'0.1.0');
INSERT INTO "rating_answer" VALUES(3,'R1','zq-item-0','','zq-south',0,'{"overall": 10.0, "H": 1.0}','[]',1,1,'2026-11-29T01:30:18.859Z','2026-11-29T01:30:38.859Z',20.0,'',0,0,'0.1.0');
INSERT INTO "rating_answer" VALUES(3,'R1','zq-item-1','','zq-south',0,'{"overall": 10.0, "H": 1.0}','[]',1,1,'2026-11-29T01:30:18.859Z','2026-11-29T01:30:38.859Z',20.0,'',0,0,'0.1.0');
INSERT INTO "rating_answer" VALUES(3,'R1','zq-item-1','','zq-north',0,'{"overall": 0.0, "H": 1.0}','[{"start": 0, "end": 4, "severity": "major", "category": "accuracy/omission", "weight": null, "in_source": false}]',0,1,'2026-11-29T01:30:18.860Z','2026-11-29T01:30:38.860Z',20.0,'',0,0,'0.1.0');
INSERT INTO "rating_answer" VALUES(3,'R2','zq-item-0','','zq-south',0,'{"overall": 33.3}','[]',0,0,NULL,NULL,NULL,'日本語',1,0,NULL);
CREATE TABLE "rating_assignment" (
    "study_id" INTEGER REFERENCES "study"("id"), "rater_id" TEXT, "position" INTEGER,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "source" TEXT NOT NULL, "repeat" INTEGER NOT NULL,
    PRIMARY KEY ("study_id", "rater_id", "position")
) STRICT;
INSERT INTO "rating_assignment" VALUES(3,'R1',1,'zq-item-0','','zq-north',0);
INSERT INTO "rating_assignment" VALUES(3,'R1',2,'zq-item-0','','zq-south',0);
INSERT INTO "rating_assignment" VALUES(3,'R1',3,'zq-item-1','','zq-south',0);
INSERT INTO "rating_assignment" VALUES(3,'R1',4,'zq-item-1','','zq-north',0);
INSERT INTO "rating_assignment" VALUES(3,'R2',1,'zq-item-0','','zq-south',0);
INSERT INTO "rating_assignment" VALUES(3,'R2',2,'zq-item-0','','zq-north',0);
INSERT INTO "rating_assignment" VALUES(3,'R2',3,'zq-item-1','','zq-north',0);
INSERT INTO "rating_assignment" VALUES(3,'R2',4,'zq-item-1','','zq-south',0);
CREATE TABLE "rating_history" (
    "id" INTEGER PRIMARY KEY, "saved_utc" TEXT NOT NULL,
    "study_id" INTEGER NOT NULL REFERENCES "study"("id"), "rater_id" TEXT NOT NULL,
    "item_id" TEXT NOT NULL, "level" TEXT NOT NULL, "source" TEXT NOT NULL, "repeat" INTEGER NOT NULL,
    "scores" TEXT NOT NULL, "spans" TEXT NOT NULL, "no_errors" INTEGER NOT NULL, "done" INTEGER NOT NULL,
    "shown_utc" TEXT, "answered_utc" TEXT, "seconds" REAL, "comment" TEXT NOT NULL,
    "invalid" INTEGER NOT NULL, "skipped" INTEGER NOT NULL, "app_version" TEXT
) STRICT;
INSERT INTO "rating_history" VALUES(1,'2026-11-29T01:30:38.844Z',3,'R1','zq-item-0','','zq-north',0,'{"overall": 0.0, "H": 1.0}','[]',0,0,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "rating_history" VALUES(2,'2026-11-29T01:30:38.857Z',3,'R1','zq-item-0','','zq-north',0,'{"overall": 0.0, "H": 1.0}','[{"start": 0, "end": 4, "severity": "major", "category": "accuracy/omission", "weight": null, "in_source": false}]',0,0,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "rating_history" VALUES(3,'2026-11-29T01:30:38.857Z',3,'R1','zq-item-0','','zq-north',0,'{"overall": 0.0, "H": 1.0}','[{"start": 0, "end": 4, "severity": "major", "category": "accuracy/omission", "weight": null, "in_source": false}]',0,1,'2026-11-29T01:30:18.857Z','2026-11-29T01:30:38.857Z',20.0,'',0,0,'0.1.0');
INSERT INTO "rating_history" VALUES(4,'2026-11-29T01:30:38.858Z',3,'R1','zq-item-0','','zq-south',0,'{"overall": 10.0, "H": 1.0}','[]',0,0,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "rating_history" VALUES(5,'2026-11-29T01:30:38.859Z',3,'R1','zq-item-0','','zq-south',0,'{"overall": 10.0, "H": 1.0}','[]',1,0,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "rating_history" VALUES(6,'2026-11-29T01:30:38.859Z',3,'R1','zq-item-0','','zq-south',0,'{"overall": 10.0, "H": 1.0}','[]',1,1,'2026-11-29T01:30:18.859Z','2026-11-29T01:30:38.859Z',20.0,'',0,0,'0.1.0');
INSERT INTO "rating_history" VALUES(7,'2026-11-29T01:30:38.859Z',3,'R1','zq-item-1','','zq-south',0,'{"overall": 10.0, "H": 1.0}','[]',0,0,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "rating_history" VALUES(8,'2026-11-29T01:30:38.859Z',3,'R1','zq-item-1','','zq-south',0,'{"overall": 10.0, "H": 1.0}','[]',1,0,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "rating_history" VALUES(9,'2026-11-29T01:30:38.859Z',3,'R1','zq-item-1','','zq-south',0,'{"overall": 10.0, "H": 1.0}','[]',1,1,'2026-11-29T01:30:18.859Z','2026-11-29T01:30:38.859Z',20.0,'',0,0,'0.1.0');
INSERT INTO "rating_history" VALUES(10,'2026-11-29T01:30:38.860Z',3,'R1','zq-item-1','','zq-north',0,'{"overall": 0.0, "H": 1.0}','[]',0,0,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "rating_history" VALUES(11,'2026-11-29T01:30:38.860Z',3,'R1','zq-item-1','','zq-north',0,'{"overall": 0.0, "H": 1.0}','[{"start": 0, "end": 4, "severity": "major", "category": "accuracy/omission", "weight": null, "in_source": false}]',0,0,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "rating_history" VALUES(12,'2026-11-29T01:30:38.860Z',3,'R1','zq-item-1','','zq-north',0,'{"overall": 0.0, "H": 1.0}','[{"start": 0, "end": 4, "severity": "major", "category": "accuracy/omission", "weight": null, "in_source": false}]',0,1,'2026-11-29T01:30:18.860Z','2026-11-29T01:30:38.860Z',20.0,'',0,0,'0.1.0');
INSERT INTO "rating_history" VALUES(13,'2026-11-29T01:30:38.873Z',3,'R2','zq-item-0','','zq-south',0,'{"overall": 33.3}','[]',0,0,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "rating_history" VALUES(14,'2026-11-29T01:30:38.873Z',3,'R2','zq-item-0','','zq-south',0,'{"overall": 33.3}','[]',0,0,NULL,NULL,NULL,'日本語',1,0,NULL);
CREATE TABLE "reply" (
    "key" TEXT PRIMARY KEY, "text" TEXT, "reason" TEXT, "detail" TEXT NOT NULL,
    "input_tokens" INTEGER, "output_tokens" INTEGER, "seconds" REAL NOT NULL,
    "created_utc" TEXT NOT NULL
, thinking TEXT, thinking_tokens INTEGER) STRICT;
INSERT INTO "reply" VALUES('k','no JSON',NULL,'',3,4,0.5,'2026-11-29T01:30:38.899Z','hm',2);
CREATE TABLE request (key TEXT PRIMARY KEY, asked BLOB NOT NULL) STRICT;
INSERT INTO "request" VALUES('k',X'789CAB56CA4D2D2E4E4C4F2D56B252888E562A2D4E2D52D25150F22A4D494F55548A8DAD0500C71F0B02');
CREATE TABLE "run" (
    "id" INTEGER PRIMARY KEY, "kind" TEXT NOT NULL, "state" TEXT NOT NULL, "settings" TEXT NOT NULL,
    "running" TEXT NOT NULL, "data_file" TEXT NOT NULL, "data_sha256" TEXT NOT NULL,
    "n_items" INTEGER NOT NULL, "limit" INTEGER, "created_utc" TEXT,
    "app_version" TEXT, "started_utc" TEXT, "finished_utc" TEXT, "beat_utc" TEXT, "process" INTEGER,
    "cancel" INTEGER DEFAULT 0, "message" TEXT DEFAULT ''
, worked_seconds REAL DEFAULT 0, start_seconds REAL) STRICT;
INSERT INTO "run" VALUES(1,'scores','done','{}','{}','texts.jsonl','04dc0320778dd1b948e1e13740e369e06608173234a8316d184880f53abb52e4',3,NULL,'2026-11-29T01:30:38.883Z','0','2026-11-29T01:30:38.897Z','2026-11-29T01:30:38.898Z','2026-11-29T01:30:38.898Z',NULL,0,'',0.001,NULL);
INSERT INTO "run" VALUES(2,'rubric','waiting','{}','{}','texts.jsonl','44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',3,NULL,'2026-11-29T01:30:38.899Z','0',NULL,NULL,NULL,NULL,0,'',0.0,NULL);
CREATE TABLE "run_call" (
    "id" INTEGER PRIMARY KEY, "run_id" INTEGER NOT NULL REFERENCES "run"("id"),
    "position" INTEGER NOT NULL, "key" TEXT NOT NULL, "step" TEXT NOT NULL, "reason" TEXT,
    "cached" INTEGER NOT NULL, "input_tokens" INTEGER, "output_tokens" INTEGER,
    "seconds" REAL NOT NULL, "at_utc" TEXT NOT NULL
, rejected TEXT, detail TEXT, not_sent TEXT, thinking_tokens INTEGER, texts TEXT) STRICT;
INSERT INTO "run_call" VALUES(1,1,0,'k','lexical',NULL,0,NULL,NULL,0.5,'2026-11-29T01:30:38.898Z',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "run_call" VALUES(2,2,0,'k','judge',NULL,0,3,4,0.5,'2026-11-29T01:30:38.899Z','not JSON','','seed',2,'[1]');
CREATE TABLE run_data (run_id INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
    data BLOB NOT NULL) STRICT;
INSERT INTO "run_data" VALUES(1,X'007465787473');
INSERT INTO "run_data" VALUES(2,X'7B7D');
CREATE TABLE "run_item" (
    "run_id" INTEGER REFERENCES "run"("id"), "position" INTEGER, "item_id" TEXT NOT NULL,
    "state" TEXT NOT NULL, "result" TEXT NOT NULL, "failures" TEXT NOT NULL, "seconds" REAL NOT NULL,
    "finished_utc" TEXT NOT NULL, PRIMARY KEY ("run_id", "position")
) STRICT;
INSERT INTO "run_item" VALUES(1,0,'q0','done','{"outputs": []}','[]',0.0,'2026-11-29T01:30:38.898Z');
CREATE TABLE run_metric (run_id INTEGER NOT NULL REFERENCES run(id) ON DELETE CASCADE,
    position INTEGER NOT NULL, name TEXT NOT NULL, signature TEXT NOT NULL, family TEXT NOT NULL,
    direction TEXT NOT NULL, PRIMARY KEY (run_id, position)) STRICT, WITHOUT ROWID;
INSERT INTO "run_metric" VALUES(1,0,'bleu-1','BLEU|order:1','BLEU','higher');
INSERT INTO "run_metric" VALUES(1,1,'ter','TER|','TER','lower');
CREATE TABLE score_list (id INTEGER PRIMARY KEY, signatures TEXT NOT NULL UNIQUE) STRICT;
INSERT INTO "score_list" VALUES(1,'["BLEU|order:1", "TER|"]');
CREATE TABLE "setting" (
    "key" TEXT PRIMARY KEY, "value" TEXT NOT NULL
) STRICT;
INSERT INTO "setting" VALUES('database_id','5d413dcf35b998d2637ce3a09f9f15cc');
INSERT INTO "setting" VALUES('admin_passphrase','scrypt$32768$8$3$3c62d336a0894346b3d695b212fbfa4b$4cd74b2a90afb4e87387dd63a1638a331903faf364bb7a830a24750bb12973dd');
CREATE TABLE "study" (
    "id" INTEGER PRIMARY KEY, "name" TEXT NOT NULL, "state" TEXT NOT NULL, "candidate" TEXT NOT NULL,
    "comparator" TEXT NOT NULL, "margin" REAL NOT NULL, "confidence_level" REAL NOT NULL,
    "seed" INTEGER NOT NULL, "level_order" TEXT, "repeat_share" REAL, "votes_per_pair" INTEGER,
    "max_questions" INTEGER, "levels" TEXT NOT NULL, "dataset_sha256" TEXT, "dataset_file" TEXT,
    "created_utc" TEXT, "app_version" TEXT, "language" TEXT, "first_vote_utc" TEXT
, blinding_pairs INTEGER NOT NULL DEFAULT 10, person TEXT NOT NULL DEFAULT 'comparator', kind TEXT NOT NULL DEFAULT 'pairs', task TEXT, main_levels TEXT, votes_needed INTEGER, score TEXT NOT NULL DEFAULT 'composite', flagged TEXT NOT NULL DEFAULT 'keep', declared INTEGER NOT NULL DEFAULT 0, early_looks INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "study" VALUES(1,'pairs','unblinded','ai','human',0.1,0.9,7,'fixed',0.2,NULL,NULL,'["A0", "A1"]','4da94f7ab13842d92f35deb8983d2edfe02631ff460c4080f4733de155b57fd4','answers.json','2026-11-29T01:30:38.744Z','0.1.0','en','2026-11-29T01:30:38.763Z',10,'comparator','pairs',NULL,NULL,2,'composite','keep',1,0);
INSERT INTO "study" VALUES(2,'looks','unblinded','ai','human',0.1,0.9,7,'fixed',0.0,NULL,NULL,'[""]','83bf7fcd913e81d35f0d0e94ed1ec0611e8e3b4909c23b00ef9f076f205e67c6','answers.json','2026-11-29T01:30:38.809Z','0.1.0','en','2026-11-29T01:30:38.817Z',0,'comparator','pairs',NULL,NULL,1,'composite','keep',1,1);
INSERT INTO "study" VALUES(3,'ratings','unblinded','','',0.1,0.9,7,'fixed',0.05,NULL,NULL,'[]','f653e05a7a9aa71cd34ff7130644a48bcf40d137106a7fc65100067ca730df02','zq-file.jsonl','2026-11-29T01:30:38.827Z','0.1.0','en','2026-11-29T01:30:38.857Z',0,'comparator','ratings','{"name": "both", "title": "Both", "paper": "002", "section": "2", "differences": "none", "dimensions": [{"name": "overall", "title": "Overall quality", "description": "How good is it?", "lowest": 0, "highest": 100, "step": 0, "anchors": [], "detailed": ""}, {"name": "H", "title": "Harmless", "description": "Is it free of harm?", "lowest": 0, "highest": 1, "step": 1.0, "anchors": [[0, "no"], [1, "yes"]], "detailed": ""}], "spans": {"severities": ["minor", "major"], "categories": ["accuracy/omission", "fluency/grammar"], "source_side": false, "meanings": []}, "show_reference": false, "labels": {"source": "source", "reference": "reference (correct and complete)", "text": "text"}}',NULL,NULL,'composite','keep',1,0);
CREATE TABLE text_score (id INTEGER PRIMARY KEY, pair BLOB NOT NULL,
    list INTEGER NOT NULL REFERENCES score_list(id), scores BLOB NOT NULL, reasons TEXT,
    UNIQUE (pair, list)) STRICT;
INSERT INTO "text_score" VALUES(1,X'0101010101010101010101010101010101010101010101010101010101010101',1,X'343333333333D33F000000000000F87F','{"1": "no reference"}');
CREATE TABLE "wording" (
    "study_id" INTEGER REFERENCES "study"("id"), "language" TEXT, "key" TEXT, "text" TEXT NOT NULL,
    PRIMARY KEY ("study_id", "language", "key")
) STRICT;
INSERT INTO "wording" VALUES(1,'de','consent','Ich mache mit.');
INSERT INTO "wording" VALUES(1,'de','left','Die linke');
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX "idx_study_name" ON "study" ("name");
CREATE UNIQUE INDEX "idx_rater_token_sha256" ON "rater" ("token_sha256");
CREATE UNIQUE INDEX "idx_assignment_study_id_rater_id_item_id_level_repeat" ON "assignment"
    ("study_id", "rater_id", "item_id", "level", "repeat");
CREATE TRIGGER answer_history_no_delete BEFORE DELETE ON answer_history BEGIN SELECT RAISE(ABORT, 'the history of answers is append-only'); END;
CREATE TRIGGER answer_history_no_update BEFORE UPDATE ON answer_history WHEN OLD."id" IS NOT NEW."id" OR OLD."saved_utc" IS NOT NEW."saved_utc" OR OLD."study_id" IS NOT NEW."study_id" OR OLD."item_id" IS NOT NEW."item_id" OR OLD."level" IS NOT NEW."level" OR OLD."repeat" IS NOT NEW."repeat" OR OLD."choice" IS NOT NEW."choice" OR OLD."preference" IS NOT NEW."preference" OR OLD."shown_utc" IS NOT NEW."shown_utc" OR OLD."answered_utc" IS NOT NEW."answered_utc" OR OLD."seconds" IS NOT NEW."seconds" OR OLD."diff_used" IS NOT NEW."diff_used" OR OLD."invalid" IS NOT NEW."invalid" OR OLD."skipped" IS NOT NEW."skipped" OR OLD."app_version" IS NOT NEW."app_version" BEGIN SELECT RAISE(ABORT, 'the history of answers is append-only'); END;
CREATE TRIGGER answer_history_no_replace BEFORE INSERT ON answer_history WHEN EXISTS (SELECT 1 FROM answer_history WHERE id = NEW.id) BEGIN SELECT RAISE(ABORT, 'the history of answers is append-only'); END;
CREATE INDEX "idx_run_call_run_id_position_key" ON "run_call" ("run_id", "position", "key");
CREATE UNIQUE INDEX "idx_kept_file_kind_sha256" ON "kept_file" ("kind", "sha256");
CREATE UNIQUE INDEX "idx_rating_assignment_study_id_rater_id_item_id_level_source_repeat" ON "rating_assignment"
    ("study_id", "rater_id", "item_id", "level", "source", "repeat");
CREATE TRIGGER rating_history_no_update BEFORE UPDATE ON rating_history WHEN OLD."id" IS NOT NEW."id" OR OLD."saved_utc" IS NOT NEW."saved_utc" OR OLD."study_id" IS NOT NEW."study_id" OR OLD."item_id" IS NOT NEW."item_id" OR OLD."level" IS NOT NEW."level" OR OLD."source" IS NOT NEW."source" OR OLD."repeat" IS NOT NEW."repeat" OR OLD."scores" IS NOT NEW."scores" OR OLD."spans" IS NOT NEW."spans" OR OLD."no_errors" IS NOT NEW."no_errors" OR OLD."done" IS NOT NEW."done" OR OLD."shown_utc" IS NOT NEW."shown_utc" OR OLD."answered_utc" IS NOT NEW."answered_utc" OR OLD."seconds" IS NOT NEW."seconds" OR OLD."invalid" IS NOT NEW."invalid" OR OLD."skipped" IS NOT NEW."skipped" OR OLD."app_version" IS NOT NEW."app_version" BEGIN SELECT RAISE(ABORT, 'the history of ratings is append-only'); END;
CREATE TRIGGER rating_history_no_replace BEFORE INSERT ON rating_history WHEN EXISTS (SELECT 1 FROM rating_history WHERE id = NEW.id) BEGIN SELECT RAISE(ABORT, 'the history of ratings is append-only'); END;
CREATE TRIGGER rating_history_no_delete BEFORE DELETE ON rating_history BEGIN SELECT RAISE(ABORT, 'the history of ratings is append-only'); END;
CREATE INDEX run_item_finished ON run_item (run_id, finished_utc, state);
CREATE INDEX run_item_failures ON run_item (run_id, failures) WHERE failures <> '[]';
CREATE TRIGGER entered_question_no_update BEFORE UPDATE ON entered_question BEGIN SELECT RAISE(ABORT, 'the history of entered questions is append-only'); END;
CREATE TRIGGER entered_question_no_delete BEFORE DELETE ON entered_question BEGIN SELECT RAISE(ABORT, 'the history of entered questions is append-only'); END;
CREATE TRIGGER entered_question_no_replace BEFORE INSERT ON entered_question WHEN EXISTS (SELECT 1
    FROM entered_question WHERE study_id = NEW.study_id AND (position = NEW.position OR item_id = NEW.item_id))
    BEGIN SELECT RAISE(ABORT, 'the history of entered questions is append-only'); END;
COMMIT;
