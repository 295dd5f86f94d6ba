import { createHmac, timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { installSchemas } from '#libs/infra/schemas';

/** The configured pepper is not the one that this database's keys are hashed under. */
export class PepperMismatch extends Error {
  override readonly name = 'PepperMismatch';
}

/**
 * Remembers the pepper of a new database by a keyed value that says nothing about it, and recognises it at every later
 * start: under another one every API key would be refused, and every idempotency key forgotten.
 * @throws {PepperMismatch}
 */
export const requirePepper = async (pool: pg.Pool, pepper: Buffer): Promise<void> => {
  await installSchemas(pool, ['agents']);
  await pool.query('insert into agents.pepper_check (check_value) values ($1) on conflict do nothing', [
    checkValueOf(pepper),
  ]);
  if (await isKnownPepper(pool, pepper)) return;
  throw new PepperMismatch(
    'The pepper is not the one this database was set up with. Restore the key file from your backup.',
  );
};

/** Whether this is the pepper that the database remembers; false also where it remembers none. Changes nothing. */
export const isKnownPepper = async (pool: pg.Pool, pepper: Buffer): Promise<boolean> => {
  const own = checkValueOf(pepper);
  const { rows } = await pool.query<{ check_value: Buffer }>('select check_value from agents.pepper_check');
  return rows[0]?.check_value.byteLength === own.byteLength && timingSafeEqual(rows[0].check_value, own);
};

const checkValueOf = (pepper: Buffer): Buffer =>
  createHmac('sha256', pepper).update('service/pepper-check/v1').digest();
