import { quotedTable, quotedText, type TableName } from './quoted.js';

export interface SetUpTable extends TableName {
  /** Whether it gets REPLICA IDENTITY FULL: whole old rows in the change log, which an undo needs. */
  readonly isFull: boolean;
}

/** The table, and its partitions down to the last. */
const TREE = `tree(id) AS (
      SELECT wanted::oid
      UNION ALL
      SELECT i.inhrelid FROM tree t
        JOIN pg_catalog.pg_inherits i ON i.inhparent = t.id
        JOIN pg_catalog.pg_class c ON c.oid = i.inhrelid
       WHERE c.relispartition
    )`;

/**
 * The body of a DO that publishes a table, and before that gives it the replica identity where one is asked for. It raises, and
 * so leaves all as it was, where PostgreSQL would refuse an UPDATE or DELETE of anybody afterwards.
 */
export const publishedTableBody = (table: SetUpTable, publication: string): string => {
  const quoted = quotedTable(table);
  return `DECLARE
  wanted regclass := to_regclass(${quotedText(quoted)});
  publication text := ${quotedText(publication)};
  part regclass;
  faults text;
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.oid = wanted AND c.relkind IN ('r', 'p')) THEN
    RAISE EXCEPTION USING MESSAGE = ${quotedText(`There is no table ${quoted}.`)}, HINT = 'Check its name, with the schema.';
  END IF;
${table.isFull ? fullIdentity(quoted) : ''}  WITH RECURSIVE ${TREE}
  SELECT string_agg(t.id::regclass::text, ', ') INTO faults
    FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.id
   WHERE (c.relkind = 'r' OR t.id = wanted) AND c.relkind IN ('r', 'p') AND NOT CASE c.relreplident
     WHEN 'f' THEN true
     WHEN 'd' THEN EXISTS (SELECT FROM pg_catalog.pg_index i
       WHERE i.indrelid = c.oid AND i.indisprimary AND i.indisvalid AND i.indimmediate)
     WHEN 'i' THEN EXISTS (SELECT FROM pg_catalog.pg_index i
       WHERE i.indrelid = c.oid AND i.indisreplident AND i.indisvalid AND i.indimmediate)
     ELSE false END;
  IF faults IS NOT NULL THEN
    RAISE EXCEPTION USING MESSAGE = 'Not published: without a primary key or REPLICA IDENTITY FULL, every UPDATE and DELETE would fail on ' || faults || '.',
      HINT = 'Give it a primary key, or set it up with --full.';
  END IF;
${virtualColumns(quoted)}
  IF NOT EXISTS (
    SELECT FROM pg_catalog.pg_publication p JOIN pg_catalog.pg_publication_rel r ON r.prpubid = p.oid
     WHERE p.pubname = publication AND r.prrelid = wanted
  ) THEN
    EXECUTE format('ALTER PUBLICATION %I ADD TABLE ONLY %s', publication, wanted);
  END IF;
END`;
};

/** Nothing can publish a virtual column, and under REPLICA IDENTITY FULL every one must be published. */
const virtualColumns = (quoted: string): string => `  WITH RECURSIVE ${TREE}
  SELECT string_agg(DISTINCT c.oid::regclass::text, ', ') INTO faults
    FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.id JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
   WHERE c.relreplident = 'f' AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = 'v';
  IF faults IS NOT NULL THEN
    RAISE EXCEPTION USING MESSAGE = 'Not published: a virtual generated column under REPLICA IDENTITY FULL would make every UPDATE and DELETE fail on ' || faults || '.',
      HINT = ${quotedText(`Set ${quoted} up without --full and with a primary key, or make the column STORED.`)};
  END IF;`;

/**
 * Another publication of the table that leaves columns out (a list, or generated ones) would make updates fail once every column
 * is part of the identity. Such a table is left as it is.
 */
const fullIdentity = (quoted: string): string => `  IF current_setting('server_version_num')::int >= 150000 THEN
    WITH RECURSIVE ${TREE}, covered(id) AS (
      SELECT id FROM tree UNION SELECT relid FROM pg_partition_ancestors(wanted) a(relid) WHERE relid IS NOT NULL
    )
    SELECT string_agg(DISTINCT format('%I', l.pubname), ', ') INTO faults
      FROM covered v JOIN pg_catalog.pg_class c ON c.oid = v.id JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_publication_tables l ON l.schemaname = n.nspname AND l.tablename = c.relname
      JOIN pg_catalog.pg_publication p ON p.pubname = l.pubname AND (p.pubupdate OR p.pubdelete)
     WHERE l.pubname <> publication AND EXISTS (
       SELECT FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> ALL (l.attnames)
          AND (a.attgenerated = '' OR current_setting('server_version_num')::int >= 180000));
    IF faults IS NOT NULL THEN
      RAISE EXCEPTION USING MESSAGE = ${quotedText(`Left as it is: with REPLICA IDENTITY FULL, UPDATE and DELETE would fail on ${quoted}, since columns are left out by the publication `)} || faults || '.',
        HINT = 'Have that publication publish every column, or set the table up without --full.';
    END IF;
  END IF;
  FOR part IN
    WITH RECURSIVE ${TREE}
    SELECT t.id FROM tree t JOIN pg_catalog.pg_class c ON c.oid = t.id
     WHERE c.relkind IN ('r', 'p') AND c.relreplident <> 'f'
  LOOP
    EXECUTE format('ALTER TABLE ONLY %s REPLICA IDENTITY FULL', part);
  END LOOP;
`;
