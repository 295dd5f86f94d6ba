-- Which organization, owner and agent the first start makes. Not there before a deployment is prepared: that is how a
-- program that was started before then knows.
create schema if not exists agents;

create table if not exists agents.first_organization (
  only_row boolean primary key default true check (only_row),
  org text not null,
  owner text not null,
  agent text not null
);
