export { approvalLink, baseUrlOf, pageLink, signInLink } from './base-url.js';
export {
  type Config,
  ConfigError,
  environmentWith,
  ignoredVariables,
  inspectSettings,
  ownEnvironmentBut,
  parseConfig,
  problemsOfSettings,
  type SettingHelp,
  type SettingReport,
  SETTINGS_HELP,
} from './config.schema.js';
export { ListenAddress } from './setting-readers.js';
export { API_KEY_VARIABLE, givenApiKey } from './given-api-key.js';
export { InvalidKurrentUrl, parseKurrentUrl, type KurrentAddress } from './kurrent-url.js';
export {
  InvalidMailAddress,
  type MailAddress,
  type MailSender,
  parseMailSender,
  requireMailAddress,
} from './mail-address.js';
export { InvalidSmtpUrl, parseSmtpUrl, type SmtpServer } from './smtp-url.js';
export { givenText } from './given-text.js';
export { callerFolder } from './caller-folder.js';
export { fileFaultOf, isFullDisk } from './file-fault.js';
export { EMBEDDED_DATABASE } from './embedded-database.js';
export {
  ensureSecretFile,
  missingSecretFiles,
  readSecretFile,
  SecretFileError,
  type SecretPaths,
  secretPathsOf,
} from './secret-files.js';
export {
  inStateDirectory,
  isThere,
  leavingNoFolders,
  makeOwnStateDirectory,
  makeStateDirectory,
  prepareStateDirectory,
  requireOwnStateDirectory,
  StateDirectoryError,
} from './state-directory.js';
