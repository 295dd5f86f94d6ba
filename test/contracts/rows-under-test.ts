import { afterAll, beforeAll, beforeEach, describe } from 'vitest';

/** The rows behind a port. */
export interface RowsUnderTest<Port> {
  /** The port as one more process has it. */
  open(): Port;
  /** Removes all rows. No test goes on with a port that it opened before. */
  empty(): Promise<void>;
  close(): Promise<void>;
}

/** The port in two processes on the same rows. */
export interface PortUnderTest<Rows extends RowsUnderTest<unknown>> {
  readonly rows: Rows;
  readonly one: ReturnType<Rows['open']>;
  readonly other: ReturnType<Rows['open']>;
}

/** Runs the cases of a port's contract, each on empty rows. */
export const contractOnRows = <Rows extends RowsUnderTest<unknown>>(
  title: string,
  start: () => Promise<Rows>,
  cases: (port: PortUnderTest<Rows>) => void,
): void => {
  describe(title, () => {
    const port = {} as { -readonly [Part in keyof PortUnderTest<Rows>]: PortUnderTest<Rows>[Part] };

    beforeAll(async () => {
      port.rows = await start();
    });
    beforeEach(async () => {
      await port.rows.empty();
      const { rows } = port;
      port.one = rows.open() as ReturnType<Rows['open']>;
      port.other = rows.open() as ReturnType<Rows['open']>;
    });
    afterAll(() => port.rows.close());

    cases(port);
  });
};
