import { sqlStateOf } from './sql-state.js';

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH', 'ECONNRESET', 'EAI_AGAIN']);
/**
 * 28 wrong password, 3D no such database, 53 no connection or no room left, 57 shutting down, 58 disk failure, 08
 * connection lost, 25006 read-only, 42501 missing right.
 */
const UNUSABLE_STATE = /^(08|28|3D|53|57|58)|^(25006|42501)$/;

/** The driver's messages about a server that gives no answer. They have no code, so the words are matched. */
const SILENT = /^(timeout expired|timeout exceeded when trying to connect|Connection terminated|Query read timeout)/;

/**
 * Whether an error means that the database cannot be used, because of settings or its own state; false for a defect of
 * ours.
 */
export const isDatabaseUnusable = (error: Error): boolean =>
  ('code' in error && typeof error.code === 'string' && UNREACHABLE.has(error.code)) ||
  UNUSABLE_STATE.test(sqlStateOf(error) ?? '') ||
  SILENT.test(error.message);
