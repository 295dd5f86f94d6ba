-- Which event store the rows of this database belong to.
create table if not exists public.known_event_store (
  only_row boolean primary key default true check (only_row),
  store_id text not null
);
