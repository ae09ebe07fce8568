-- Index images are derived, and each is as large as the index: they do not belong into the write-ahead
-- log, nor into its archive or onto standbys. After a crash of the database, or when a standby was
-- promoted, both tables are empty, and servers make new images. They are emptied here, because the tables
-- would be written again otherwise, under a lock.
truncate memoranda.images, memoranda.image_parts;
alter table memoranda.images set unlogged;
alter table memoranda.image_parts set unlogged;
