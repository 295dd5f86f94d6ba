export { ConnectorRegistry } from './connector-registry.port.js';
export { GateKernel, type GateKernelParts } from './gate-kernel.js';
export {
  executionPatienceFor,
  GATE_DEFAULTS,
  type GateSettings,
  LEFT_BEHIND_AFTER_MS,
  livenessIntervalFor,
  sealingPatienceFor,
} from './gate.settings.js';
export { SealingBacklog } from './sealing-backlog.port.js';
