-- oldest-program: 0001
-- What witnesses said of checkpoints: rows of the projection `checkpoints`.
create table if not exists read_models.cosignatures (
  id text collate "C" primary key,
  org text collate "C" not null,
  origin text collate "C" not null,
  size bigint not null,
  witness text collate "C" not null,
  name text collate "C" not null,
  line text collate "C" not null,
  cosigned_at timestamptz(3) not null
);

create index if not exists cosignatures_by_size on read_models.cosignatures (org, origin, size);
