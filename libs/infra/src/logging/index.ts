export { PinoLogger } from './pino-logger.js';
export { redactText } from './redaction.js';
