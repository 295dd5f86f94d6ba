/** Said wherever an agent's test key is made: its name promises a sandbox to whoever knows other services. */
export const TEST_KEY_RUNS_TOOLS =
  'It is a test key: its calls are marked as test, and their tools run all the same. `--live` makes a live one.';
