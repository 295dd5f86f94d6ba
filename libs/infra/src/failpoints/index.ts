export { ArmedFailpoints } from './armed-failpoints.js';
export { startFailpoints } from './failpoint-switch.js';
export { InvalidFailpoints, parseFailpoints } from './failpoint-orders.js';
