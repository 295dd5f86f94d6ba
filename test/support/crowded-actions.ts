import type pg from 'pg';

/**
 * While `task` runs, whoever counts actions counts each of them 1,000,001 times: as many rows would take minutes to write.
 * Nothing must be projected meanwhile.
 */
export const whileActionsAreCrowded = async <Result>(
  database: Pick<pg.ClientBase, 'query'>,
  task: () => Promise<Result>,
): Promise<Result> => {
  await database.query('alter table read_models.actions rename to few_actions');
  await database.query(
    'create view read_models.actions as select few.* from read_models.few_actions few, generate_series(1, 1000001)',
  );
  try {
    return await task();
  } finally {
    await database.query('drop view read_models.actions');
    await database.query('alter table read_models.few_actions rename to actions');
  }
};
