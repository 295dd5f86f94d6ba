type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Where the command line was typed, from which its relative paths count. `npm run` changes into the folder of the package
 * first, also when it is called from another one (`npm --prefix`), and leaves the old one in INIT_CWD. Every program below
 * inherits both variables, so only the script that npm was asked for may believe them.
 */
export const callerFolder = (script: string, environment: Environment = process.env): string => {
  const { npm_lifecycle_event: running, INIT_CWD: folder } = environment;
  return running === script && folder !== undefined && folder !== '' ? folder : process.cwd();
};
