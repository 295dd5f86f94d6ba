export { InvalidAllowEntry, parseAllowEntry } from './allow-entry.js';
export { type EgressSettings, endpointOf, publicEndpointOf, type OwnEndpoint } from './destination-rules.js';
export { EgressDoor, type EgressDoorOptions, type EgressRequest } from './egress-door.js';
export { NoTlsOffered } from './postgres-tls.js';
export { EgressFailure, type EgressFailureReason } from './egress-failure.js';
export type { EgressResponse } from './exchange.js';
export type { Resolve } from './resolver.js';
export type { DigestedBody } from './response-body.js';
export type { EgressStream } from './streamed-exchange.js';
