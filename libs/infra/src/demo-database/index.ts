export {
  type CallAsAdmin,
  DEMO_CONNECTOR,
  DemoConnectorRefused,
  type DemoConnectorStatus,
  ensureDemoConnector,
  untilDemoIsReady,
} from './demo-connector.js';
export { type DatabaseLogin, type DemoDatabase, isDemoWanted, startDemoDatabase } from './demo-database.js';
export { Demo, type DemoStatus } from './offered-demo.js';
