export { inspectSchema, type SchemaState } from './installed-schema.js';
