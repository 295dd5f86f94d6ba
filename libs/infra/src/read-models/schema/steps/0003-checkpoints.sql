-- oldest-program: 0001
-- The checkpoints of organizations' trees by their size: rows of the projection `checkpoints`.
create table if not exists read_models.checkpoints (
  id text collate "C" primary key,
  org text collate "C" not null,
  origin text collate "C" not null,
  size bigint not null,
  root text collate "C" not null,
  note text collate "C" not null,
  made_at timestamptz(3) not null
);

create index if not exists checkpoints_by_size on read_models.checkpoints (org, origin, size);
