import { parseKurrentUrl, type Config } from '../config/index.js';
import { endpointOf, publicEndpointOf, type OwnEndpoint } from '../egress/index.js';
import { DatabaseClient } from '../postgres/index.js';

/** What every process of the deployment knows as its own, whether it listens or not (rule EGRESS-6). */
export const settledEndpoints = (config: Config, connectionString: string): readonly OwnEndpoint[] => {
  const { baseUrl, host, port, redisUrl, eventStoreUrl, metricsAddress } = config;
  // As the driver reads it: host and port may stand in the query.
  const database = new DatabaseClient({ connectionString });
  return [
    // A folder is that of a socket on this machine, which no connector dials.
    ...(database.host.startsWith('/') ? [] : [{ host: database.host, port: database.port }]),
    ...(redisUrl === null ? [] : [endpointOf(redisUrl)]),
    ...(eventStoreUrl === null ? [] : parseKurrentUrl(eventStoreUrl).nodes),
    ...(baseUrl === null ? [] : [publicEndpointOf(baseUrl)]),
    ...(port === 0 ? [] : [{ host, port }]),
    ...(metricsAddress === null ? [] : [metricsAddress]),
  ];
};
