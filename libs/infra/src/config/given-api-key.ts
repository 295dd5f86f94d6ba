type Environment = Readonly<Record<string, string | undefined>>;

/** Not a setting of the service: it is one person's, and an argument would show in the list of processes. */
export const API_KEY_VARIABLE = 'AGS_API_KEY';

/** The API key that a command is to show a service; undefined when none was given. */
export const givenApiKey = (environment: Environment = process.env): string | undefined =>
  environment[API_KEY_VARIABLE];
