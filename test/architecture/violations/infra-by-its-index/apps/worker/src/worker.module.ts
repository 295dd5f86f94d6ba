import { appender } from '../../../libs/infra/src/event-store/postgres/appender.js';
import { postgresStore } from '#libs/infra/event-store/postgres';
import { eventStore } from '#libs/infra/event-store';

export const used = [appender, postgresStore, eventStore];
