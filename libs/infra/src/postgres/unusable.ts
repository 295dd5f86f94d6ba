import { sqlStateOf } from './sql-state.js';

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH', 'ECONNRESET', 'EAI_AGAIN']);
/**
 * 28 wrong password, 3D no such database, 53 no connection or no room left, 57 shutting down, 58 its disk fails, 08 connection
 * lost, 25006 no writes, 42501 no right.
 */
const UNUSABLE_STATE = /^(08|28|3D|53|57|58)|^(25006|42501)$/;

/** What the driver says of a server that gives no answer: without a code, so by its words. */
const SILENT = /^(timeout expired|timeout exceeded when trying to connect|Connection terminated|Query read timeout)/;

/** Whether the database cannot be used, by settings or by its own state; false for a fault of ours. */
export const isDatabaseUnusable = (error: Error): boolean =>
  ('code' in error && typeof error.code === 'string' && UNREACHABLE.has(error.code)) ||
  UNUSABLE_STATE.test(sqlStateOf(error) ?? '') ||
  SILENT.test(error.message);
