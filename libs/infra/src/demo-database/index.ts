export { type DatabaseLogin, type DemoDatabase, isDemoWanted, startDemoDatabase } from './demo-database.js';
export { DEMO_PUBLICATION } from './demo-schema.js';
