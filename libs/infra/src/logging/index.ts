export { RepeatedFault } from './repeated-fault.js';
export { PinoLogger } from './pino-logger.js';
export { redactText } from './redaction.js';
