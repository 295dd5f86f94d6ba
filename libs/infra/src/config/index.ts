export { type Config, ConfigError, parseConfig, type SettingHelp, SETTINGS_HELP } from './config.schema.js';
export {
  ensureSecretFile,
  prepareStateDirectory,
  readSecretFile,
  SecretFileError,
  type SecretPaths,
  secretPathsOf,
} from './secret-files.js';
