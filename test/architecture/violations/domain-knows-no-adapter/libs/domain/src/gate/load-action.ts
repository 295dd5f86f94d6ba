import { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { fastify } from 'fastify';
import { appendEvents } from '#libs/infra/event-store';

export const used = [Pool, DataSource, fastify, appendEvents];
