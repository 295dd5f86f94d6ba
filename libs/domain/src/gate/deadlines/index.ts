export { DueActionSweeper, type WhySilent } from './due-action-sweeper.js';
export { type DueAction, dueActionChange } from './due-action.process.js';
export { DueActions } from './due-actions.port.js';
