export { type LoggerOptions, type LogLevel, PinoLogger } from './pino-logger.js';
export { redactAttributes, redactText } from './redaction.js';
