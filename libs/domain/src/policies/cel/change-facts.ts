import type { Vocabulary } from './facts.js';
import { fromCall, SCALAR } from './sizes.js';
import { type CelType, DYN, type Field, INT, listOf, mapOf, nullable, STRING } from './types.js';

const always = (type: CelType, meaning: string): Field => ({ type, presence: 'always', meaning });

/** Values are the texts that the database wrote into its change log, whatever the type of the column. */
const COLUMNS = mapOf(nullable(STRING));

const ROW: CelType = {
  kind: 'record',
  name: 'row',
  fields: {
    table: always(STRING, 'the table, schema.table'),
    kind: always({ kind: 'string', oneOf: ['insert', 'update', 'delete'] }, 'what became of the row'),
    old: always(COLUMNS, 'the columns before; none of an insert, and only the key without REPLICA IDENTITY FULL'),
    new: always(COLUMNS, 'the columns after; none of a delete'),
  },
};

/** The whole of the arguments (rule FORM-7: 256 KiB). */
const ARGUMENTS = fromCall(262_144);
/** Changed rows that are kept are few, and what they hold is bounded like an answer. */
const ROWS_MAX = 20;
const ROWS = { ...fromCall(1_048_576), items: ROWS_MAX };

/** Every variable of a postcondition that is asked of a change log. */
export const CHANGE_FACTS: Vocabulary = {
  args: { ...always(mapOf(DYN), 'the arguments as the agent sent them'), size: ARGUMENTS },
  rows: { ...always(listOf(ROW), 'the rows that the call changed, in their order'), size: ROWS },
  row_count: { ...always(INT, 'how many rows the call changed'), size: SCALAR },
};
