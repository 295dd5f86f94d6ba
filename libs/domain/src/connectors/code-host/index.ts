// What the driver of a code host needs of its rules (libs/infra/src/connectors/code-host).
export { type CodeHostAnswer, judgeCodeHost, judgeCutOffCodeHost } from './code-host-answer.js';
export { codeHostConfigOf } from './code-host-config.js';
export {
  absent,
  type ConfirmingRead,
  isAnswer,
  type JudgedConfirmation,
  judgeConfirmation,
  planConfirmation,
  readBackTermsOf,
  unverifiable,
} from './code-host-confirm.js';
export { deletionFault, FILES_A_PAGE, filesLookOf, mergeFault } from './code-host-look.js';
export { isProtectedBranch } from './code-host-names.js';
export { type Parameter, planCodeHost, planCodeHostRead, pullPath, refPath } from './code-host-request.js';
export { CODE_HOST_TOOLS, codeHostToolNamed } from './code-host-tools.js';
export { isFineGrainedToken } from './code-host-token.js';
