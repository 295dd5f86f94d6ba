import { Injectable } from '@nestjs/common';
import type { JsonObject } from '#libs/crypto';
import { type ActionStatus, statusOf } from '#libs/domain/gate';
import { LATEST_API_VERSION, MCP_META, RPC_CODE } from '#libs/domain/kernel';
import { ActionReader, type ReadAction } from '../gate/action-reader.js';
import { refusalOf } from '../gate/unrun-action.js';
import { Site } from '../http/site.js';
import { RpcFault } from './rpc-fault.js';

/** Names of ours in `_meta`. */
const META = 'service';
/** The texts of results that MCP servers gave begin with this member: they are kept as a model is to read them. */
const MCP_RESULT = '{"content":[';

export interface AnswerTerms {
  readonly isModern: boolean;
  /** The action is one of an earlier call. */
  readonly isReplay: boolean;
}

/** What a client is told of an action that has ended, or that still waits, as the text of a JSON-RPC result. */
@Injectable()
export class ToolAnswers {
  constructor(
    private readonly reader: ActionReader,
    private readonly site: Site,
  ) {}

  /**
   * Of a sealed action: what its tool answered, or why nothing or not all was done.
   * @throws {RpcFault} -32602 for a tool that there is not, whose refusal is sealed
   */
  async ended(read: ReadAction, terms: AnswerTerms): Promise<string> {
    const refusal = refusalOf(read.action, terms.isReplay);
    const meta = metaOf(read, terms, refusal?.code ?? read.action.outcome?.error_code ?? null);
    if (refusal?.code === 'tool_unknown') {
      const data = { code: refusal.code, action: read.action.submission.action, deed: read.deed };
      throw new RpcFault(RPC_CODE.invalidParams, refusal.message, { data });
    }
    if (refusal !== null) return ownWords([sentenceOf(refusal.message, refusal.code, read)], meta, terms);
    return this.executed(read, meta, terms);
  }

  private async executed(read: ReadAction, meta: JsonObject, terms: AnswerTerms): Promise<string> {
    const { outcome } = read.action;
    const text = await this.reader.resultTextOf(read.action);
    const isError = outcome?.status !== 'succeeded';
    if (text?.startsWith(MCP_RESULT) === true) return spliced(meta, text, terms);
    if (isError) {
      const said = outcome?.error_message ?? 'The outcome of this call is not known.';
      const sentence = sentenceOf(said, outcome?.error_code ?? 'unknown', read);
      return ownWords(text === null ? [sentence] : [sentence, text], meta, terms);
    }
    if (text === null) return ownWords(['The call ran, and its answer is kept no longer.'], meta, terms, false);
    const members = [
      `"_meta":${JSON.stringify(meta)}`,
      `"content":[{"type":"text","text":${JSON.stringify(readable(text))}}]`,
      `"isError":false`,
      `"structuredContent":${text}`,
      ...resultType(terms),
    ];
    return `{${members.join(',')}}`;
  }

  /** Of an action that still waits, for clients that no other way is open to. */
  waiting(read: ReadAction, terms: AnswerTerms): string {
    const { action } = read;
    const id = action.submission.action;
    const { approval } = action;
    const status = statusOf(action, read.deed !== null);
    const how = `Call service_await_action with {"action": "${id}"} to wait for it; do not repeat this call.`;
    const what =
      approval !== null && status === 'pending_approval'
        ? `This call waits for a person until ${approval.terms.expires_at}, and nothing has run. They decide at ` +
          `${this.site.baseUrl}/app/approvals/${approval.terms.approval}.`
        : 'This call has begun and has not ended yet.';
    return ownWords([`${what} ${how}`], metaOf(read, terms, null), terms);
  }
}

const sentenceOf = (message: string, code: string, { action }: ReadAction): string =>
  `${message} (${code}, action ${action.submission.action})`;

const metaOf = ({ action, deed }: ReadAction, { isModern, isReplay }: AnswerTerms, code: string | null): JsonObject => {
  const status: ActionStatus = statusOf(action, deed !== null);
  return {
    ...(isModern ? { [`${MCP_META}/serverInfo`]: SERVER_INFO } : {}),
    [`${META}/action`]: action.submission.action,
    [`${META}/deed`]: deed,
    [`${META}/status`]: status,
    [`${META}/verdict`]: action.witness?.verdict ?? null,
    [`${META}/code`]: code,
    [`${META}/replayed`]: isReplay,
  };
};

export const SERVER_INFO: JsonObject = {
  name: 'agent-governance-service',
  title: 'Agent Governance Service',
  version: LATEST_API_VERSION,
};

/**
 * What the service says itself is an error to the model (rule MCP-4), without `structuredContent`: clients check that against the tool's
 * schema of answers, and would throw away what is said here.
 */
const ownWords = (texts: readonly string[], meta: JsonObject, terms: AnswerTerms, isError = true): string => {
  const content = texts.map((text) => ({ type: 'text', text }));
  return JSON.stringify({ _meta: meta, content, isError, ...(terms.isModern ? { resultType: 'complete' } : {}) });
};

const resultType = ({ isModern }: AnswerTerms): readonly string[] => (isModern ? ['"resultType":"complete"'] : []);

/** The recorded text stays as it is: nothing in it is read, and no number is written anew. */
const spliced = (meta: JsonObject, text: string, terms: AnswerTerms): string => {
  const members = [`"_meta":${JSON.stringify(meta)}`, ...resultType(terms), text.slice(1, -1)];
  return `{${members.join(',')}}`;
};

/** The body of an HTTP answer is what a model wants to read; of other results all. */
const readable = (text: string): string => {
  const { body } = JSON.parse(text) as JsonObject;
  if (body === undefined) return text;
  return typeof body === 'string' ? body : JSON.stringify(body);
};
