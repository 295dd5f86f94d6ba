import { busContract } from '../../../../test/contracts/bus.contract.js';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { InProcessBus } from './in-process-bus.js';

busContract('in process', () => {
  const log = collectingLogger();
  return Promise.resolve({ bus: new InProcessBus(log), reported: log.errors, close: () => Promise.resolve() });
});
