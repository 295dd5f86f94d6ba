import { member, type Answer } from './scratch-service.js';
import type { Stage } from './stage.js';

const CALL = { tool: 'crm.summarize', args: { id: '42' }, mode: 'proxy', connector_type: 'mcp' };

/** A tool that the agent alone has: the service decides and keeps the record, the agent runs it and says what came of it. */
export const atTheEdge = async (stage: Stage): Promise<void> => {
  const { story, service, records, agentKey: key } = stage;
  story.scene('A tool that the agent runs itself');
  story.tell(`${CALL.tool} ${JSON.stringify(CALL.args)}, mode proxy`);
  const arrived = records.arrivals.length;
  const allowed = await service.call('POST', '/v1/actions', { key, body: CALL });
  story.tell(`→ ${allowed.status} ${String(allowed.json['status'])}, to be reported by ${deadlineOf(allowed)}`);
  story.claim(
    'the policy allows it, and the service sends nothing anywhere',
    allowed.json['status'] === 'authorized' && records.arrivals.length === arrived,
  );
  const path = `/v1/actions/${String(allowed.json['id'])}/result`;
  const at = new Date().toISOString();
  const body = {
    status: 'succeeded',
    started_at: at,
    finished_at: at,
    result: { summary: 'Ada is on the team plan.' },
  };
  const reported = await service.call('POST', path, { key, body });
  const [verdict, method] = ['verdict', 'method'].map((name) => String(member(reported.json, 'witness', name)));
  story.tell(`the agent runs it, and reports → ${reported.status} ${verdict}, ${method}`);
  story.claim(
    'what it reports is sealed as its own word',
    method === 'edge_reported' && reported.json['state'] === 'sealed',
  );
  const again = await service.call('POST', path, { key, body: { ...body, result: 'something else' } });
  story.claim('a second report is refused: the first one stands', member(again.json, 'error', 'code') === 'conflict');
};

const deadlineOf = ({ json }: Answer): string => String(member(json, 'next_action', 'deadline'));
