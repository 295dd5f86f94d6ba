// What the driver of libs/infra/src/connectors/rest needs of the rules.
export { inputSchemaOf } from './rest-arguments.js';
export { isRepeatable, moneyMarksOf, type RestConfig, restConfigOf, type RestTool } from './rest-config.js';
export { isAllowedPath } from './rest-paths.js';
export {
  type ConfirmedTool,
  isConfirmed,
  judgeAnswer,
  judgeFailure,
  planReadBack,
  type ReadBackPlan,
  readBackTermsOf,
} from './rest-read-back.js';
export { buildRestRequest, previewOfRestRequest, restRequestFacts, sensitiveValuesOf } from './rest-request.js';
