export { type AddressClass, classifyAddress } from './address-class.js';
export { type EgressSettings, InvalidAllowEntry, type OwnEndpoint } from './destination-rules.js';
export { EgressDoor, type EgressDoorOptions, type EgressRequest } from './egress-door.js';
export { EgressFailure, type EgressFailureReason } from './egress-failure.js';
export type { EgressResponse } from './exchange.js';
export { type Resolve, systemResolver } from './resolver.js';
