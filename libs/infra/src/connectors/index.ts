export { ConnectorDrivers } from './connector-drivers.js';
export { RestDriver } from './rest-driver.js';
