export { ConnectorDrivers } from './connector-drivers.js';
