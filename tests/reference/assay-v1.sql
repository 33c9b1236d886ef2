BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'assay','m001_studies','2026-11-21 03:50:15.357125+00:00');
CREATE TABLE "answer" (
   "study_id" INTEGER NOT NULL REFERENCES "study"("id"),
   "rater_id" TEXT NOT NULL,
   "item_id" TEXT NOT NULL,
   "level" TEXT NOT NULL,
   "repeat" INTEGER NOT NULL,
   "choice" TEXT,
   "preference" TEXT,
   "shown_utc" TEXT,
   "answered_utc" TEXT,
   "seconds" REAL,
   "diff_used" TEXT,
   "comment" TEXT NOT NULL,
   "invalid" INTEGER NOT NULL,
   "skipped" INTEGER NOT NULL,
   "app_version" TEXT,
   PRIMARY KEY ("study_id", "rater_id", "item_id", "level", "repeat")
) STRICT;
INSERT INTO "answer" VALUES(1,'ann','q2','A0',0,'right',NULL,'2026-11-21T03:50:11.867Z','2026-11-21T03:50:15.367Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ann','q2','A1',0,'both_bad',NULL,NULL,'2026-11-21T03:50:15.372Z',NULL,'none','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ann','q2','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.869Z','2026-11-21T03:50:15.369Z',5.5,'own_a0','She said: "why?"; 日本
second line',1,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ann','q1','A0',0,'left',NULL,'2026-11-21T03:50:08.869Z','2026-11-21T03:50:15.369Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ann','q1','A1',0,'left',NULL,'2026-11-21T03:50:07.870Z','2026-11-21T03:50:15.370Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ann','q1','A2',0,'right',NULL,'2026-11-21T03:50:06.870Z','2026-11-21T03:50:15.370Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ann','q3','A0',0,'both_good',NULL,'2026-11-21T03:50:05.871Z','2026-11-21T03:50:15.371Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ann','q3','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.871Z','2026-11-21T03:50:15.371Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ann','q3','A2',0,'left',NULL,'2026-11-21T03:50:03.872Z','2026-11-21T03:50:15.372Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ben: the second','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.873Z','2026-11-21T03:50:15.373Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ben: the second','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.873Z','2026-11-21T03:50:15.373Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ben: the second','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.874Z','2026-11-21T03:50:15.374Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ben: the second','q3','A2',0,'right',NULL,'2026-11-21T03:50:06.874Z','2026-11-21T03:50:15.374Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ben: the second','q2','A0',0,'both_good',NULL,'2026-11-21T03:50:05.875Z','2026-11-21T03:50:15.375Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ben: the second','q2','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.875Z','2026-11-21T03:50:15.375Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ben: the second','q2','A2',0,'left',NULL,'2026-11-21T03:50:03.876Z','2026-11-21T03:50:15.376Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'ben: the second','q3','A0',0,NULL,NULL,NULL,NULL,NULL,NULL,'',0,1,NULL);
INSERT INTO "answer" VALUES(1,'ben: the second','q3','A1',0,NULL,NULL,NULL,NULL,NULL,NULL,'a note without an answer',0,0,NULL);
INSERT INTO "answer" VALUES(1,'preview-1','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.879Z','2026-11-21T03:50:15.379Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.880Z','2026-11-21T03:50:15.380Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q2','A0',0,'left',NULL,'2026-11-21T03:50:08.880Z','2026-11-21T03:50:15.380Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q2','A1',0,'left',NULL,'2026-11-21T03:50:07.881Z','2026-11-21T03:50:15.381Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q2','A2',0,'right',NULL,'2026-11-21T03:50:06.881Z','2026-11-21T03:50:15.381Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q3','A0',0,'both_good',NULL,'2026-11-21T03:50:05.882Z','2026-11-21T03:50:15.382Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q3','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.882Z','2026-11-21T03:50:15.382Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'preview-1','q3','A2',0,'left',NULL,'2026-11-21T03:50:03.883Z','2026-11-21T03:50:15.383Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(1,'old','q1','A1',0,NULL,'both_good',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer" VALUES(1,'old: votes','q1','A0',0,NULL,'candidate',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer" VALUES(1,'old: votes','q2','A1',0,NULL,'both_bad',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer" VALUES(1,'old: votes','q3','A2',0,NULL,'comparator',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer" VALUES(2,'ann','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.889Z','2026-11-21T03:50:15.389Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ann','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.890Z','2026-11-21T03:50:15.390Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ann','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.890Z','2026-11-21T03:50:15.390Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ann','q3','A0',0,'left',NULL,'2026-11-21T03:50:08.891Z','2026-11-21T03:50:15.391Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ann','q3','A1',0,'left',NULL,'2026-11-21T03:50:07.891Z','2026-11-21T03:50:15.391Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ann','q3','A2',0,'right',NULL,'2026-11-21T03:50:06.892Z','2026-11-21T03:50:15.392Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ann','q2','A0',0,'both_good',NULL,'2026-11-21T03:50:05.892Z','2026-11-21T03:50:15.392Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ann','q2','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.893Z','2026-11-21T03:50:15.393Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ann','q2','A2',0,'left',NULL,'2026-11-21T03:50:03.893Z','2026-11-21T03:50:15.393Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ben','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.894Z','2026-11-21T03:50:15.394Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ben','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.894Z','2026-11-21T03:50:15.394Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ben','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.895Z','2026-11-21T03:50:15.395Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ben','q2','A0',0,'left',NULL,'2026-11-21T03:50:08.895Z','2026-11-21T03:50:15.395Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ben','q2','A1',0,'left',NULL,'2026-11-21T03:50:07.896Z','2026-11-21T03:50:15.396Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ben','q2','A2',0,'right',NULL,'2026-11-21T03:50:06.896Z','2026-11-21T03:50:15.396Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ben','q3','A0',0,'both_good',NULL,'2026-11-21T03:50:05.897Z','2026-11-21T03:50:15.397Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ben','q3','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.897Z','2026-11-21T03:50:15.397Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(2,'ben','q3','A2',0,'left',NULL,'2026-11-21T03:50:03.897Z','2026-11-21T03:50:15.397Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ann','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.889Z','2026-11-21T03:50:15.389Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ann','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.890Z','2026-11-21T03:50:15.390Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ann','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.890Z','2026-11-21T03:50:15.390Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ann','q3','A0',0,'left',NULL,'2026-11-21T03:50:08.891Z','2026-11-21T03:50:15.391Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ann','q3','A1',0,'left',NULL,'2026-11-21T03:50:07.891Z','2026-11-21T03:50:15.391Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ann','q3','A2',0,'right',NULL,'2026-11-21T03:50:06.892Z','2026-11-21T03:50:15.392Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ann','q2','A0',0,'both_good',NULL,'2026-11-21T03:50:05.892Z','2026-11-21T03:50:15.392Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ann','q2','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.893Z','2026-11-21T03:50:15.393Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ann','q2','A2',0,'left',NULL,'2026-11-21T03:50:03.893Z','2026-11-21T03:50:15.393Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ben','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.894Z','2026-11-21T03:50:15.394Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ben','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.894Z','2026-11-21T03:50:15.394Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ben','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.895Z','2026-11-21T03:50:15.395Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ben','q2','A0',0,'left',NULL,'2026-11-21T03:50:08.895Z','2026-11-21T03:50:15.395Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ben','q2','A1',0,'left',NULL,'2026-11-21T03:50:07.896Z','2026-11-21T03:50:15.396Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ben','q2','A2',0,'right',NULL,'2026-11-21T03:50:06.896Z','2026-11-21T03:50:15.396Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ben','q3','A0',0,'both_good',NULL,'2026-11-21T03:50:05.897Z','2026-11-21T03:50:15.397Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ben','q3','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.897Z','2026-11-21T03:50:15.397Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer" VALUES(4,'ben','q3','A2',0,'left',NULL,'2026-11-21T03:50:03.897Z','2026-11-21T03:50:15.397Z',11.5,'own_a0','',0,0,'0.1.0');
CREATE TABLE "answer_history" (
   "id" INTEGER PRIMARY KEY,
   "saved_utc" TEXT NOT NULL,
   "study_id" INTEGER NOT NULL REFERENCES "study"("id"),
   "rater_id" TEXT NOT NULL,
   "item_id" TEXT NOT NULL,
   "level" TEXT NOT NULL,
   "repeat" INTEGER NOT NULL,
   "choice" TEXT,
   "preference" TEXT,
   "shown_utc" TEXT,
   "answered_utc" TEXT,
   "seconds" REAL,
   "diff_used" TEXT,
   "comment" TEXT NOT NULL,
   "invalid" INTEGER NOT NULL,
   "skipped" INTEGER NOT NULL,
   "app_version" TEXT
) STRICT;
INSERT INTO "answer_history" VALUES(1,'2026-11-21T03:50:15.368Z',1,'ann','q2','A0',0,'right',NULL,'2026-11-21T03:50:11.867Z','2026-11-21T03:50:15.367Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(2,'2026-11-21T03:50:15.369Z',1,'ann','q2','A1',0,'both_good',NULL,'2026-11-21T03:50:10.868Z','2026-11-21T03:50:15.368Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(3,'2026-11-21T03:50:15.369Z',1,'ann','q2','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.869Z','2026-11-21T03:50:15.369Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(4,'2026-11-21T03:50:15.370Z',1,'ann','q1','A0',0,'left',NULL,'2026-11-21T03:50:08.869Z','2026-11-21T03:50:15.369Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(5,'2026-11-21T03:50:15.370Z',1,'ann','q1','A1',0,'left',NULL,'2026-11-21T03:50:07.870Z','2026-11-21T03:50:15.370Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(6,'2026-11-21T03:50:15.371Z',1,'ann','q1','A2',0,'right',NULL,'2026-11-21T03:50:06.870Z','2026-11-21T03:50:15.370Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(7,'2026-11-21T03:50:15.371Z',1,'ann','q3','A0',0,'both_good',NULL,'2026-11-21T03:50:05.871Z','2026-11-21T03:50:15.371Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(8,'2026-11-21T03:50:15.371Z',1,'ann','q3','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.871Z','2026-11-21T03:50:15.371Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(9,'2026-11-21T03:50:15.372Z',1,'ann','q3','A2',0,'left',NULL,'2026-11-21T03:50:03.872Z','2026-11-21T03:50:15.372Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(10,'2026-11-21T03:50:15.372Z',1,'ann','q2','A1',0,'both_bad',NULL,NULL,'2026-11-21T03:50:15.372Z',NULL,'none','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(11,'2026-11-21T03:50:15.373Z',1,'ann','q2','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.869Z','2026-11-21T03:50:15.369Z',5.5,'own_a0','She said: "why?"; 日本
second line',1,0,'0.1.0');
INSERT INTO "answer_history" VALUES(12,'2026-11-21T03:50:15.373Z',1,'ben: the second','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.873Z','2026-11-21T03:50:15.373Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(13,'2026-11-21T03:50:15.374Z',1,'ben: the second','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.873Z','2026-11-21T03:50:15.373Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(14,'2026-11-21T03:50:15.374Z',1,'ben: the second','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.874Z','2026-11-21T03:50:15.374Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(15,'2026-11-21T03:50:15.375Z',1,'ben: the second','q3','A2',0,'right',NULL,'2026-11-21T03:50:06.874Z','2026-11-21T03:50:15.374Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(16,'2026-11-21T03:50:15.375Z',1,'ben: the second','q2','A0',0,'both_good',NULL,'2026-11-21T03:50:05.875Z','2026-11-21T03:50:15.375Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(17,'2026-11-21T03:50:15.376Z',1,'ben: the second','q2','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.875Z','2026-11-21T03:50:15.375Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(18,'2026-11-21T03:50:15.376Z',1,'ben: the second','q2','A2',0,'left',NULL,'2026-11-21T03:50:03.876Z','2026-11-21T03:50:15.376Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(19,'2026-11-21T03:50:15.376Z',1,'ben: the second','q3','A0',0,NULL,NULL,NULL,NULL,NULL,NULL,'',0,1,NULL);
INSERT INTO "answer_history" VALUES(20,'2026-11-21T03:50:15.377Z',1,'ben: the second','q3','A1',0,NULL,NULL,NULL,NULL,NULL,NULL,'a note without an answer',0,0,NULL);
INSERT INTO "answer_history" VALUES(21,'2026-11-21T03:50:15.380Z',1,'preview-1','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.879Z','2026-11-21T03:50:15.379Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(22,'2026-11-21T03:50:15.380Z',1,'preview-1','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.880Z','2026-11-21T03:50:15.380Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(23,'2026-11-21T03:50:15.381Z',1,'preview-1','q2','A0',0,'left',NULL,'2026-11-21T03:50:08.880Z','2026-11-21T03:50:15.380Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(24,'2026-11-21T03:50:15.381Z',1,'preview-1','q2','A1',0,'left',NULL,'2026-11-21T03:50:07.881Z','2026-11-21T03:50:15.381Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(25,'2026-11-21T03:50:15.382Z',1,'preview-1','q2','A2',0,'right',NULL,'2026-11-21T03:50:06.881Z','2026-11-21T03:50:15.381Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(26,'2026-11-21T03:50:15.382Z',1,'preview-1','q3','A0',0,'both_good',NULL,'2026-11-21T03:50:05.882Z','2026-11-21T03:50:15.382Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(27,'2026-11-21T03:50:15.383Z',1,'preview-1','q3','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.882Z','2026-11-21T03:50:15.382Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(28,'2026-11-21T03:50:15.383Z',1,'preview-1','q3','A2',0,'left',NULL,'2026-11-21T03:50:03.883Z','2026-11-21T03:50:15.383Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(29,'2026-11-21T03:50:15.383Z',1,'old','q1','A1',0,NULL,'both_good',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer_history" VALUES(30,'2026-11-21T03:50:15.384Z',1,'old: votes','q1','A0',0,NULL,'candidate',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer_history" VALUES(31,'2026-11-21T03:50:15.384Z',1,'old: votes','q2','A1',0,NULL,'both_bad',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer_history" VALUES(32,'2026-11-21T03:50:15.385Z',1,'old: votes','q3','A2',0,NULL,'comparator',NULL,NULL,NULL,NULL,'',0,0,NULL);
INSERT INTO "answer_history" VALUES(33,'2026-11-21T03:50:15.390Z',2,'ann','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.889Z','2026-11-21T03:50:15.389Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(34,'2026-11-21T03:50:15.390Z',2,'ann','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.890Z','2026-11-21T03:50:15.390Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(35,'2026-11-21T03:50:15.391Z',2,'ann','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.890Z','2026-11-21T03:50:15.390Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(36,'2026-11-21T03:50:15.391Z',2,'ann','q3','A0',0,'left',NULL,'2026-11-21T03:50:08.891Z','2026-11-21T03:50:15.391Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(37,'2026-11-21T03:50:15.392Z',2,'ann','q3','A1',0,'left',NULL,'2026-11-21T03:50:07.891Z','2026-11-21T03:50:15.391Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(38,'2026-11-21T03:50:15.392Z',2,'ann','q3','A2',0,'right',NULL,'2026-11-21T03:50:06.892Z','2026-11-21T03:50:15.392Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(39,'2026-11-21T03:50:15.393Z',2,'ann','q2','A0',0,'both_good',NULL,'2026-11-21T03:50:05.892Z','2026-11-21T03:50:15.392Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(40,'2026-11-21T03:50:15.393Z',2,'ann','q2','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.893Z','2026-11-21T03:50:15.393Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(41,'2026-11-21T03:50:15.393Z',2,'ann','q2','A2',0,'left',NULL,'2026-11-21T03:50:03.893Z','2026-11-21T03:50:15.393Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(42,'2026-11-21T03:50:15.394Z',2,'ben','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.894Z','2026-11-21T03:50:15.394Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(43,'2026-11-21T03:50:15.395Z',2,'ben','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.894Z','2026-11-21T03:50:15.394Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(44,'2026-11-21T03:50:15.395Z',2,'ben','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.895Z','2026-11-21T03:50:15.395Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(45,'2026-11-21T03:50:15.396Z',2,'ben','q2','A0',0,'left',NULL,'2026-11-21T03:50:08.895Z','2026-11-21T03:50:15.395Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(46,'2026-11-21T03:50:15.396Z',2,'ben','q2','A1',0,'left',NULL,'2026-11-21T03:50:07.896Z','2026-11-21T03:50:15.396Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(47,'2026-11-21T03:50:15.396Z',2,'ben','q2','A2',0,'right',NULL,'2026-11-21T03:50:06.896Z','2026-11-21T03:50:15.396Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(48,'2026-11-21T03:50:15.397Z',2,'ben','q3','A0',0,'both_good',NULL,'2026-11-21T03:50:05.897Z','2026-11-21T03:50:15.397Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(49,'2026-11-21T03:50:15.397Z',2,'ben','q3','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.897Z','2026-11-21T03:50:15.397Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(50,'2026-11-21T03:50:15.398Z',2,'ben','q3','A2',0,'left',NULL,'2026-11-21T03:50:03.897Z','2026-11-21T03:50:15.397Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(51,'2026-11-21T03:50:15.390Z',4,'ann','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.889Z','2026-11-21T03:50:15.389Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(52,'2026-11-21T03:50:15.390Z',4,'ann','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.890Z','2026-11-21T03:50:15.390Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(53,'2026-11-21T03:50:15.391Z',4,'ann','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.890Z','2026-11-21T03:50:15.390Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(54,'2026-11-21T03:50:15.391Z',4,'ann','q3','A0',0,'left',NULL,'2026-11-21T03:50:08.891Z','2026-11-21T03:50:15.391Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(55,'2026-11-21T03:50:15.392Z',4,'ann','q3','A1',0,'left',NULL,'2026-11-21T03:50:07.891Z','2026-11-21T03:50:15.391Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(56,'2026-11-21T03:50:15.392Z',4,'ann','q3','A2',0,'right',NULL,'2026-11-21T03:50:06.892Z','2026-11-21T03:50:15.392Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(57,'2026-11-21T03:50:15.393Z',4,'ann','q2','A0',0,'both_good',NULL,'2026-11-21T03:50:05.892Z','2026-11-21T03:50:15.392Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(58,'2026-11-21T03:50:15.393Z',4,'ann','q2','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.893Z','2026-11-21T03:50:15.393Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(59,'2026-11-21T03:50:15.393Z',4,'ann','q2','A2',0,'left',NULL,'2026-11-21T03:50:03.893Z','2026-11-21T03:50:15.393Z',11.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(60,'2026-11-21T03:50:15.394Z',4,'ben','q1','A0',0,'right',NULL,'2026-11-21T03:50:11.894Z','2026-11-21T03:50:15.394Z',3.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(61,'2026-11-21T03:50:15.395Z',4,'ben','q1','A1',0,'both_good',NULL,'2026-11-21T03:50:10.894Z','2026-11-21T03:50:15.394Z',4.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(62,'2026-11-21T03:50:15.395Z',4,'ben','q1','A2',0,'both_bad',NULL,'2026-11-21T03:50:09.895Z','2026-11-21T03:50:15.395Z',5.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(63,'2026-11-21T03:50:15.396Z',4,'ben','q2','A0',0,'left',NULL,'2026-11-21T03:50:08.895Z','2026-11-21T03:50:15.395Z',6.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(64,'2026-11-21T03:50:15.396Z',4,'ben','q2','A1',0,'left',NULL,'2026-11-21T03:50:07.896Z','2026-11-21T03:50:15.396Z',7.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(65,'2026-11-21T03:50:15.396Z',4,'ben','q2','A2',0,'right',NULL,'2026-11-21T03:50:06.896Z','2026-11-21T03:50:15.396Z',8.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(66,'2026-11-21T03:50:15.397Z',4,'ben','q3','A0',0,'both_good',NULL,'2026-11-21T03:50:05.897Z','2026-11-21T03:50:15.397Z',9.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(67,'2026-11-21T03:50:15.397Z',4,'ben','q3','A1',0,'both_bad',NULL,'2026-11-21T03:50:04.897Z','2026-11-21T03:50:15.397Z',10.5,'own_a0','',0,0,'0.1.0');
INSERT INTO "answer_history" VALUES(68,'2026-11-21T03:50:15.398Z',4,'ben','q3','A2',0,'left',NULL,'2026-11-21T03:50:03.897Z','2026-11-21T03:50:15.397Z',11.5,'own_a0','',0,0,'0.1.0');
CREATE TABLE "assignment" (
   "study_id" INTEGER REFERENCES "study"("id"),
   "rater_id" TEXT,
   "position" INTEGER,
   "item_id" TEXT NOT NULL,
   "level" TEXT NOT NULL,
   "left" TEXT NOT NULL,
   "right" TEXT NOT NULL,
   "repeat" INTEGER NOT NULL,
   PRIMARY KEY ("study_id", "rater_id", "position")
) STRICT;
INSERT INTO "assignment" VALUES(1,'ann',1,'q2','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'ann',2,'q2','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'ann',3,'q2','A2','human','ai',0);
INSERT INTO "assignment" VALUES(1,'ann',4,'q1','A0','ai','human',0);
INSERT INTO "assignment" VALUES(1,'ann',5,'q1','A1','human','ai',0);
INSERT INTO "assignment" VALUES(1,'ann',6,'q1','A2','human','ai',0);
INSERT INTO "assignment" VALUES(1,'ann',7,'q3','A0','ai','human',0);
INSERT INTO "assignment" VALUES(1,'ann',8,'q3','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'ann',9,'q3','A2','ai','human',0);
INSERT INTO "assignment" VALUES(1,'ben: the second',1,'q1','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'ben: the second',2,'q1','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'ben: the second',3,'q1','A2','human','ai',0);
INSERT INTO "assignment" VALUES(1,'ben: the second',4,'q3','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'ben: the second',5,'q3','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'ben: the second',6,'q3','A2','ai','human',0);
INSERT INTO "assignment" VALUES(1,'ben: the second',7,'q2','A0','ai','human',0);
INSERT INTO "assignment" VALUES(1,'ben: the second',8,'q2','A1','human','ai',0);
INSERT INTO "assignment" VALUES(1,'ben: the second',9,'q2','A2','human','ai',0);
INSERT INTO "assignment" VALUES(1,'late',1,'q3','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'late',2,'q3','A1','human','ai',0);
INSERT INTO "assignment" VALUES(1,'late',3,'q3','A2','ai','human',0);
INSERT INTO "assignment" VALUES(1,'late',4,'q2','A0','ai','human',0);
INSERT INTO "assignment" VALUES(1,'late',5,'q2','A1','human','ai',0);
INSERT INTO "assignment" VALUES(1,'late',6,'q2','A2','human','ai',0);
INSERT INTO "assignment" VALUES(1,'late',7,'q1','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'late',8,'q1','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'late',9,'q1','A2','human','ai',0);
INSERT INTO "assignment" VALUES(1,'preview-1',1,'q1','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'preview-1',2,'q1','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'preview-1',3,'q1','A2','ai','human',0);
INSERT INTO "assignment" VALUES(1,'preview-1',4,'q2','A0','human','ai',0);
INSERT INTO "assignment" VALUES(1,'preview-1',5,'q2','A1','ai','human',0);
INSERT INTO "assignment" VALUES(1,'preview-1',6,'q2','A2','ai','human',0);
INSERT INTO "assignment" VALUES(1,'preview-1',7,'q3','A0','ai','human',0);
INSERT INTO "assignment" VALUES(1,'preview-1',8,'q3','A1','human','ai',0);
INSERT INTO "assignment" VALUES(1,'preview-1',9,'q3','A2','human','ai',0);
INSERT INTO "assignment" VALUES(2,'ann',1,'q1','A0','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ann',2,'q1','A1','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ann',3,'q1','A2','human','ai',0);
INSERT INTO "assignment" VALUES(2,'ann',4,'q3','A0','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ann',5,'q3','A1','human','ai',0);
INSERT INTO "assignment" VALUES(2,'ann',6,'q3','A2','human','ai',0);
INSERT INTO "assignment" VALUES(2,'ann',7,'q2','A0','human','ai',0);
INSERT INTO "assignment" VALUES(2,'ann',8,'q2','A1','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ann',9,'q2','A2','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ben',1,'q1','A0','human','ai',0);
INSERT INTO "assignment" VALUES(2,'ben',2,'q1','A1','human','ai',0);
INSERT INTO "assignment" VALUES(2,'ben',3,'q1','A2','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ben',4,'q2','A0','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ben',5,'q2','A1','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ben',6,'q2','A2','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ben',7,'q3','A0','human','ai',0);
INSERT INTO "assignment" VALUES(2,'ben',8,'q3','A1','ai','human',0);
INSERT INTO "assignment" VALUES(2,'ben',9,'q3','A2','human','ai',0);
INSERT INTO "assignment" VALUES(4,'ann',1,'q1','A0','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ann',2,'q1','A1','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ann',3,'q1','A2','human','ai',0);
INSERT INTO "assignment" VALUES(4,'ann',4,'q3','A0','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ann',5,'q3','A1','human','ai',0);
INSERT INTO "assignment" VALUES(4,'ann',6,'q3','A2','human','ai',0);
INSERT INTO "assignment" VALUES(4,'ann',7,'q2','A0','human','ai',0);
INSERT INTO "assignment" VALUES(4,'ann',8,'q2','A1','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ann',9,'q2','A2','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ben',1,'q1','A0','human','ai',0);
INSERT INTO "assignment" VALUES(4,'ben',2,'q1','A1','human','ai',0);
INSERT INTO "assignment" VALUES(4,'ben',3,'q1','A2','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ben',4,'q2','A0','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ben',5,'q2','A1','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ben',6,'q2','A2','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ben',7,'q3','A0','human','ai',0);
INSERT INTO "assignment" VALUES(4,'ben',8,'q3','A1','ai','human',0);
INSERT INTO "assignment" VALUES(4,'ben',9,'q3','A2','human','ai',0);
INSERT INTO "assignment" VALUES(3,'ann',1,'q2','A0','human','ai',0);
INSERT INTO "assignment" VALUES(3,'ann',2,'q2','A1','human','ai',0);
INSERT INTO "assignment" VALUES(3,'ann',3,'q2','A2','ai','human',0);
INSERT INTO "assignment" VALUES(3,'ann',4,'q3','A0','ai','human',0);
INSERT INTO "assignment" VALUES(3,'ann',5,'q3','A1','ai','human',0);
INSERT INTO "assignment" VALUES(3,'ann',6,'q3','A2','human','ai',0);
INSERT INTO "assignment" VALUES(3,'ann',7,'q1','A0','human','ai',0);
INSERT INTO "assignment" VALUES(3,'ann',8,'q1','A1','human','ai',0);
INSERT INTO "assignment" VALUES(3,'ann',9,'q1','A2','ai','human',0);
CREATE TABLE "guideline" (
   "study_id" INTEGER REFERENCES "study"("id"),
   "language" TEXT,
   "text" TEXT NOT NULL,
   PRIMARY KEY ("study_id", "language")
) STRICT;
INSERT INTO "guideline" VALUES(1,'de','Lesen Sie in Ruhe.');
CREATE TABLE "item" (
   "study_id" INTEGER REFERENCES "study"("id"),
   "position" INTEGER NOT NULL,
   "item_id" TEXT,
   "question" TEXT NOT NULL,
   "reference" TEXT NOT NULL,
   "language" TEXT NOT NULL,
   PRIMARY KEY ("study_id", "item_id")
) STRICT;
INSERT INTO "item" VALUES(1,0,'q1','Question 1 of busy?','Reference 1.','en');
INSERT INTO "item" VALUES(1,1,'q2','Question 2 of busy?','Reference 2.','en');
INSERT INTO "item" VALUES(1,2,'q3','Question 3 of busy?','Reference 3.','en');
INSERT INTO "item" VALUES(2,0,'q1','Question 1 of over?','Reference 1.','en');
INSERT INTO "item" VALUES(2,1,'q2','Question 2 of over?','Reference 2.','en');
INSERT INTO "item" VALUES(2,2,'q3','Question 3 of over?','Reference 3.','en');
INSERT INTO "item" VALUES(3,0,'q1','Question 1 of draft?','Reference 1.','en');
INSERT INTO "item" VALUES(3,1,'q2','Question 2 of draft?','Reference 2.','en');
INSERT INTO "item" VALUES(3,2,'q3','Question 3 of draft?','Reference 3.','en');
INSERT INTO "item" VALUES(4,0,'q1','Question 1 of over?','Reference 1.','en');
INSERT INTO "item" VALUES(4,1,'q2','Question 2 of over?','Reference 2.','en');
INSERT INTO "item" VALUES(4,2,'q3','Question 3 of over?','Reference 3.','en');
CREATE TABLE "log" (
   "id" INTEGER PRIMARY KEY,
   "study_id" INTEGER NOT NULL REFERENCES "study"("id"),
   "at_utc" TEXT NOT NULL,
   "action" TEXT NOT NULL,
   "detail" TEXT NOT NULL
) STRICT;
INSERT INTO "log" VALUES(1,1,'2026-11-21T03:50:15.359Z','imported','busy.json, sha256 c9bc072f4fa8189466c2a8f2c36a56a4ef1e60a2ffa4986ba2f155cd176c128b');
INSERT INTO "log" VALUES(2,1,'2026-11-21T03:50:15.359Z','declared','candidate ai, comparator human, margin 0.1, confidence level 0.9, seed 7, votes per pair from all raters, levels fixed, hidden repeats 20%');
INSERT INTO "log" VALUES(3,1,'2026-11-21T03:50:15.359Z','design changed','margin: 0.1 -> 0.2; seed: 7 -> 8');
INSERT INTO "log" VALUES(4,1,'2026-11-21T03:50:15.360Z','rater added','ann');
INSERT INTO "log" VALUES(5,1,'2026-11-21T03:50:15.360Z','rater added','ben: the second');
INSERT INTO "log" VALUES(6,1,'2026-11-21T03:50:15.363Z','rater added','late');
INSERT INTO "log" VALUES(7,1,'2026-11-21T03:50:15.366Z','guidelines changed','de');
INSERT INTO "log" VALUES(8,1,'2026-11-21T03:50:15.366Z','open','all are here');
INSERT INTO "log" VALUES(9,1,'2026-11-21T03:50:15.377Z','preview added','preview-1');
INSERT INTO "log" VALUES(10,1,'2026-11-21T03:50:15.384Z','votes imported','old: 1 preferences, side and time unknown');
INSERT INTO "log" VALUES(11,1,'2026-11-21T03:50:15.385Z','votes imported','old: votes: 3 preferences, side and time unknown');
INSERT INTO "log" VALUES(12,1,'2026-11-21T03:50:15.385Z','link revoked','late');
INSERT INTO "log" VALUES(13,1,'2026-11-21T03:50:15.386Z','link issued again','ben: the second');
INSERT INTO "log" VALUES(14,2,'2026-11-21T03:50:15.386Z','imported','over.json, sha256 5fb6a47e368e12e5d8b19280796e6a3d146fe391ed2e967d5f95c55bfb0f9c2f');
INSERT INTO "log" VALUES(15,2,'2026-11-21T03:50:15.387Z','declared','candidate human, comparator ai, margin 0.1, confidence level 0.9, seed 3, votes per pair from all raters, levels fixed, hidden repeats 5%');
INSERT INTO "log" VALUES(16,2,'2026-11-21T03:50:15.387Z','rater added','ann');
INSERT INTO "log" VALUES(17,2,'2026-11-21T03:50:15.387Z','rater added','ben');
INSERT INTO "log" VALUES(18,2,'2026-11-21T03:50:15.389Z','open','');
INSERT INTO "log" VALUES(19,2,'2026-11-21T03:50:15.398Z','closed','enough');
INSERT INTO "log" VALUES(20,2,'2026-11-21T03:50:15.398Z','unblinded','all are done');
INSERT INTO "log" VALUES(21,3,'2026-11-21T03:50:15.399Z','imported','draft.json, sha256 7743ce348d9284d677a185f33295b92266cc435a5b5f775029b300066d26693a');
INSERT INTO "log" VALUES(22,3,'2026-11-21T03:50:15.399Z','declared','candidate ai, comparator human, margin 0.1, confidence level 0.9, seed 1, votes per pair from all raters, levels fixed, hidden repeats 5%');
INSERT INTO "log" VALUES(23,4,'2026-11-21T03:50:15.386Z','imported','over.json, sha256 5fb6a47e368e12e5d8b19280796e6a3d146fe391ed2e967d5f95c55bfb0f9c2f');
INSERT INTO "log" VALUES(24,4,'2026-11-21T03:50:15.387Z','declared','candidate human, comparator ai, margin 0.1, confidence level 0.9, seed 3, votes per pair from all raters, levels fixed, hidden repeats 5%');
INSERT INTO "log" VALUES(25,4,'2026-11-21T03:50:15.387Z','rater added','ann');
INSERT INTO "log" VALUES(26,4,'2026-11-21T03:50:15.387Z','rater added','ben');
INSERT INTO "log" VALUES(27,4,'2026-11-21T03:50:15.389Z','open','');
INSERT INTO "log" VALUES(28,4,'2026-11-21T03:50:15.398Z','closed','enough');
INSERT INTO "log" VALUES(29,4,'2026-11-21T03:50:15.398Z','unblinded','all are done');
INSERT INTO "log" VALUES(30,4,'2026-11-21T03:50:15.431Z','restored','from a bundle of study over');
INSERT INTO "log" VALUES(31,3,'2026-11-21T03:50:15.431Z','rater added','ann');
CREATE TABLE "output" (
   "study_id" INTEGER REFERENCES "study"("id"),
   "item_id" TEXT,
   "level" TEXT,
   "source" TEXT,
   "text" TEXT NOT NULL,
   PRIMARY KEY ("study_id", "item_id", "level", "source")
) STRICT;
INSERT INTO "output" VALUES(1,'q1','A0','ai','Ai text of q1 at A0.');
INSERT INTO "output" VALUES(1,'q1','A0','human','Human text of q1 at A0.');
INSERT INTO "output" VALUES(1,'q1','A1','ai','Ai text of q1 at A1.');
INSERT INTO "output" VALUES(1,'q1','A1','human','Human text of q1 at A1.');
INSERT INTO "output" VALUES(1,'q1','A2','ai','Ai text of q1 at A2.');
INSERT INTO "output" VALUES(1,'q1','A2','human','Human text of q1 at A2.');
INSERT INTO "output" VALUES(1,'q2','A0','ai','Ai text of q2 at A0.');
INSERT INTO "output" VALUES(1,'q2','A0','human','Human text of q2 at A0.');
INSERT INTO "output" VALUES(1,'q2','A1','ai','Ai text of q2 at A1.');
INSERT INTO "output" VALUES(1,'q2','A1','human','Human text of q2 at A1.');
INSERT INTO "output" VALUES(1,'q2','A2','ai','Ai text of q2 at A2.');
INSERT INTO "output" VALUES(1,'q2','A2','human','Human text of q2 at A2.');
INSERT INTO "output" VALUES(1,'q3','A0','ai','Ai text of q3 at A0.');
INSERT INTO "output" VALUES(1,'q3','A0','human','Human text of q3 at A0.');
INSERT INTO "output" VALUES(1,'q3','A1','ai','Ai text of q3 at A1.');
INSERT INTO "output" VALUES(1,'q3','A1','human','Human text of q3 at A1.');
INSERT INTO "output" VALUES(1,'q3','A2','ai','Ai text of q3 at A2.');
INSERT INTO "output" VALUES(1,'q3','A2','human','Human text of q3 at A2.');
INSERT INTO "output" VALUES(2,'q1','A0','ai','Ai text of q1 at A0.');
INSERT INTO "output" VALUES(2,'q1','A0','human','Human text of q1 at A0.');
INSERT INTO "output" VALUES(2,'q1','A1','ai','Ai text of q1 at A1.');
INSERT INTO "output" VALUES(2,'q1','A1','human','Human text of q1 at A1.');
INSERT INTO "output" VALUES(2,'q1','A2','ai','Ai text of q1 at A2.');
INSERT INTO "output" VALUES(2,'q1','A2','human','Human text of q1 at A2.');
INSERT INTO "output" VALUES(2,'q2','A0','ai','Ai text of q2 at A0.');
INSERT INTO "output" VALUES(2,'q2','A0','human','Human text of q2 at A0.');
INSERT INTO "output" VALUES(2,'q2','A1','ai','Ai text of q2 at A1.');
INSERT INTO "output" VALUES(2,'q2','A1','human','Human text of q2 at A1.');
INSERT INTO "output" VALUES(2,'q2','A2','ai','Ai text of q2 at A2.');
INSERT INTO "output" VALUES(2,'q2','A2','human','Human text of q2 at A2.');
INSERT INTO "output" VALUES(2,'q3','A0','ai','Ai text of q3 at A0.');
INSERT INTO "output" VALUES(2,'q3','A0','human','Human text of q3 at A0.');
INSERT INTO "output" VALUES(2,'q3','A1','ai','Ai text of q3 at A1.');
INSERT INTO "output" VALUES(2,'q3','A1','human','Human text of q3 at A1.');
INSERT INTO "output" VALUES(2,'q3','A2','ai','Ai text of q3 at A2.');
INSERT INTO "output" VALUES(2,'q3','A2','human','Human text of q3 at A2.');
INSERT INTO "output" VALUES(3,'q1','A0','ai','Ai text of q1 at A0.');
INSERT INTO "output" VALUES(3,'q1','A0','human','Human text of q1 at A0.');
INSERT INTO "output" VALUES(3,'q1','A1','ai','Ai text of q1 at A1.');
INSERT INTO "output" VALUES(3,'q1','A1','human','Human text of q1 at A1.');
INSERT INTO "output" VALUES(3,'q1','A2','ai','Ai text of q1 at A2.');
INSERT INTO "output" VALUES(3,'q1','A2','human','Human text of q1 at A2.');
INSERT INTO "output" VALUES(3,'q2','A0','ai','Ai text of q2 at A0.');
INSERT INTO "output" VALUES(3,'q2','A0','human','Human text of q2 at A0.');
INSERT INTO "output" VALUES(3,'q2','A1','ai','Ai text of q2 at A1.');
INSERT INTO "output" VALUES(3,'q2','A1','human','Human text of q2 at A1.');
INSERT INTO "output" VALUES(3,'q2','A2','ai','Ai text of q2 at A2.');
INSERT INTO "output" VALUES(3,'q2','A2','human','Human text of q2 at A2.');
INSERT INTO "output" VALUES(3,'q3','A0','ai','Ai text of q3 at A0.');
INSERT INTO "output" VALUES(3,'q3','A0','human','Human text of q3 at A0.');
INSERT INTO "output" VALUES(3,'q3','A1','ai','Ai text of q3 at A1.');
INSERT INTO "output" VALUES(3,'q3','A1','human','Human text of q3 at A1.');
INSERT INTO "output" VALUES(3,'q3','A2','ai','Ai text of q3 at A2.');
INSERT INTO "output" VALUES(3,'q3','A2','human','Human text of q3 at A2.');
INSERT INTO "output" VALUES(4,'q1','A0','ai','Ai text of q1 at A0.');
INSERT INTO "output" VALUES(4,'q1','A0','human','Human text of q1 at A0.');
INSERT INTO "output" VALUES(4,'q1','A1','ai','Ai text of q1 at A1.');
INSERT INTO "output" VALUES(4,'q1','A1','human','Human text of q1 at A1.');
INSERT INTO "output" VALUES(4,'q1','A2','ai','Ai text of q1 at A2.');
INSERT INTO "output" VALUES(4,'q1','A2','human','Human text of q1 at A2.');
INSERT INTO "output" VALUES(4,'q2','A0','ai','Ai text of q2 at A0.');
INSERT INTO "output" VALUES(4,'q2','A0','human','Human text of q2 at A0.');
INSERT INTO "output" VALUES(4,'q2','A1','ai','Ai text of q2 at A1.');
INSERT INTO "output" VALUES(4,'q2','A1','human','Human text of q2 at A1.');
INSERT INTO "output" VALUES(4,'q2','A2','ai','Ai text of q2 at A2.');
INSERT INTO "output" VALUES(4,'q2','A2','human','Human text of q2 at A2.');
INSERT INTO "output" VALUES(4,'q3','A0','ai','Ai text of q3 at A0.');
INSERT INTO "output" VALUES(4,'q3','A0','human','Human text of q3 at A0.');
INSERT INTO "output" VALUES(4,'q3','A1','ai','Ai text of q3 at A1.');
INSERT INTO "output" VALUES(4,'q3','A1','human','Human text of q3 at A1.');
INSERT INTO "output" VALUES(4,'q3','A2','ai','Ai text of q3 at A2.');
INSERT INTO "output" VALUES(4,'q3','A2','human','Human text of q3 at A2.');
CREATE TABLE "rater" (
   "study_id" INTEGER REFERENCES "study"("id"),
   "rater_id" TEXT,
   "dry_run" INTEGER NOT NULL,
   "imported" INTEGER NOT NULL,
   "language" TEXT,
   "created_utc" TEXT NOT NULL,
   "revoked" INTEGER NOT NULL,
   "link_number" INTEGER NOT NULL,
   "token_sha256" TEXT,
   "onboarding" INTEGER NOT NULL,
   "diff_mode" TEXT,
   PRIMARY KEY ("study_id", "rater_id")
) STRICT;
INSERT INTO "rater" VALUES(1,'ann',0,0,NULL,'2026-11-21T03:50:15.360Z',0,1,'d6a2534e871658a7e775c32e1077e7ef61aae067bc12a49295267da88a316d14',1,'own_a0');
INSERT INTO "rater" VALUES(1,'ben: the second',0,0,NULL,'2026-11-21T03:50:15.360Z',0,2,'7753a3c46b11b2f9e23e98ec4b264ea8f246c44cbc8fd53de9cb08fb8858d803',0,'own_a0');
INSERT INTO "rater" VALUES(1,'late',0,0,'de','2026-11-21T03:50:15.363Z',1,1,NULL,0,'own_a0');
INSERT INTO "rater" VALUES(1,'preview-1',1,0,NULL,'2026-11-21T03:50:15.377Z',0,1,'6c18273e06b26cb2c600fd52c26334cce7d54d8b81759309b4f5ee7cd8f3892a',0,'own_a0');
INSERT INTO "rater" VALUES(1,'old',0,1,NULL,'2026-11-21T03:50:15.383Z',0,0,NULL,0,'own_a0');
INSERT INTO "rater" VALUES(1,'old: votes',0,1,NULL,'2026-11-21T03:50:15.384Z',0,0,NULL,0,'own_a0');
INSERT INTO "rater" VALUES(2,'ann',0,0,NULL,'2026-11-21T03:50:15.387Z',0,1,'c4dc0c358853eb0fef3f6281d0a01bc553f7ae9ec0074d320fd259abbe2bc711',0,'own_a0');
INSERT INTO "rater" VALUES(2,'ben',0,0,NULL,'2026-11-21T03:50:15.387Z',0,1,'b33db344a2643d3bcacb90bb4617f0d660a469321a91ac5b5c0346d58018ca15',0,'own_a0');
INSERT INTO "rater" VALUES(4,'ann',0,0,NULL,'2026-11-21T03:50:15.387Z',0,0,NULL,0,'own_a0');
INSERT INTO "rater" VALUES(4,'ben',0,0,NULL,'2026-11-21T03:50:15.387Z',0,0,NULL,0,'own_a0');
INSERT INTO "rater" VALUES(3,'ann',0,0,NULL,'2026-11-21T03:50:15.431Z',0,1,'a4da6bda4d0277559d1a90cd065cb5971836dc3b8126a677fd2466abd460d384',0,'own_a0');
CREATE TABLE "setting" (
   "key" TEXT PRIMARY KEY,
   "value" TEXT NOT NULL
) STRICT;
INSERT INTO "setting" VALUES('database_id','52f0b1b89b4c4d54308063c4d4f28483');
INSERT INTO "setting" VALUES('address','http://127.0.0.1:8501');
CREATE TABLE "study" (
   "id" INTEGER PRIMARY KEY,
   "name" TEXT NOT NULL,
   "state" TEXT NOT NULL,
   "candidate" TEXT NOT NULL,
   "comparator" TEXT NOT NULL,
   "margin" REAL NOT NULL,
   "confidence_level" REAL NOT NULL,
   "seed" INTEGER NOT NULL,
   "level_order" TEXT,
   "repeat_share" REAL,
   "votes_per_pair" INTEGER,
   "max_questions" INTEGER,
   "levels" TEXT NOT NULL,
   "dataset_sha256" TEXT,
   "dataset_file" TEXT,
   "created_utc" TEXT,
   "app_version" TEXT,
   "language" TEXT,
   "first_vote_utc" TEXT
) STRICT;
INSERT INTO "study" VALUES(1,'busy','open','ai','human',0.2,0.9,8,'fixed',0.2,NULL,NULL,'["A0", "A1", "A2"]','c9bc072f4fa8189466c2a8f2c36a56a4ef1e60a2ffa4986ba2f155cd176c128b','busy.json','2026-11-21T03:50:15.358Z','0.1.0','en','2026-11-21T03:50:15.368Z');
INSERT INTO "study" VALUES(2,'over','unblinded','human','ai',0.1,0.9,3,'fixed',0.05,NULL,NULL,'["A0", "A1", "A2"]','5fb6a47e368e12e5d8b19280796e6a3d146fe391ed2e967d5f95c55bfb0f9c2f','over.json','2026-11-21T03:50:15.386Z','0.1.0','en','2026-11-21T03:50:15.390Z');
INSERT INTO "study" VALUES(3,'draft','draft','ai','human',0.1,0.9,1,'fixed',0.05,NULL,NULL,'["A0", "A1", "A2"]','7743ce348d9284d677a185f33295b92266cc435a5b5f775029b300066d26693a','draft.json','2026-11-21T03:50:15.399Z','0.1.0','en',NULL);
INSERT INTO "study" VALUES(4,'again','unblinded','human','ai',0.1,0.9,3,'fixed',0.05,NULL,NULL,'["A0", "A1", "A2"]','5fb6a47e368e12e5d8b19280796e6a3d146fe391ed2e967d5f95c55bfb0f9c2f','over.json','2026-11-21T03:50:15.386Z','0.1.0','en','2026-11-21T03:50:15.390Z');
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE UNIQUE INDEX "idx_study_name"
    ON "study" ("name");
CREATE UNIQUE INDEX "idx_rater_token_sha256"
    ON "rater" ("token_sha256");
CREATE UNIQUE INDEX "idx_assignment_study_id_rater_id_item_id_level_repeat"
    ON "assignment" ("study_id", "rater_id", "item_id", "level", "repeat");
CREATE TRIGGER answer_history_no_update BEFORE UPDATE ON answer_history BEGIN SELECT RAISE(ABORT, 'the history of answers is append-only'); END;
CREATE TRIGGER answer_history_no_delete BEFORE DELETE ON answer_history BEGIN SELECT RAISE(ABORT, 'the history of answers is append-only'); END;
COMMIT;
