export {
  type Config,
  ConfigError,
  environmentWith,
  inspectSettings,
  parseConfig,
  type SettingHelp,
  type SettingReport,
  SETTINGS_HELP,
} from './config.schema.js';
export { EMBEDDED_DATABASE } from './embedded-database.js';
export {
  ensureSecretFile,
  prepareStateDirectory,
  readSecretFile,
  SecretFileError,
  type SecretPaths,
  secretPathsOf,
} from './secret-files.js';
