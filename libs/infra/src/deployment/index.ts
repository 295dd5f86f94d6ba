export { type Database, installRowSchemas, openDatabase } from './database.js';
export { Deployment } from './deployment.js';
export { openSecrets, type Secrets } from './secrets.js';
export { InfraModule } from './infra.module.js';
export { payloadRetentionOf } from './retention.js';
export { replaysOf } from './replays.js';
export { prepareDeployment, type OnStep, type Prepared, type StepStatus } from './prepare.js';
export { ensureSealKey, rotateSealKey, type Rotation, SealKeyNotProven } from './seal-key-rotation.js';
export { type Leftovers, NOTHING_LEFT, type RunningProgram, runProgram, textForOperator } from './program.js';
