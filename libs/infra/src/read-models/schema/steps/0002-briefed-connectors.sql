-- oldest-program: 0001
-- What public events of a connector say beyond their own event: rows of the projection `public_events`.
create table if not exists read_models.briefed_connectors (
  id text collate "C" primary key,
  brief text not null
);
