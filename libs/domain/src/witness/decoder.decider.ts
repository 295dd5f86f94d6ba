import { type Decider, epochMsOf, type Timestamp } from '../kernel/index.js';
import type { DecoderCommand } from './decoder.commands.js';
import { type AttachedLog, type DecoderEvent, isLoss } from './decoder.events.js';
import { BYPASS_QUIET_MS, type Decoder } from './decoder.state.js';

const initialState = (): Decoder => ({ attached: null, reason: null, toldBypasses: new Map() });

const decide = (command: DecoderCommand, state: Decoder): readonly DecoderEvent[] => {
  const at = command.metadata.now;
  switch (command.type) {
    case 'AttachDecoder':
      return isAttachedTo(state, command.data) ? [] : [{ type: 'DecoderAttached', data: { ...command.data, at } }];
    case 'DetachDecoder':
      return state.attached === null && state.reason === null
        ? []
        : [{ type: 'DecoderDetached', data: { ...command.data, at } }];
    case 'ReportHealth': {
      const { reason, lag_bytes, ...of } = command.data;
      if (reason === state.reason) return [];
      if (reason === null) return [{ type: 'DecoderRecovered', data: { ...of, at } }];
      const lag = lag_bytes === undefined ? {} : { lag_bytes };
      return [{ type: 'DecoderDegraded', data: { ...of, reason, ...lag, at } }];
    }
    case 'ReportAlert':
      return isQuiet(command.data, state, at) ? [] : [{ type: 'DecoderAlerted', data: { ...command.data, at } }];
  }
};

/** Of a log that was lost, what comes now begins anew, whatever it is called. */
const isAttachedTo = ({ attached, reason }: Decoder, { system_id, timeline, slot }: AttachedLog): boolean =>
  !isLoss(reason) && attached?.system_id === system_id && attached.timeline === timeline && attached.slot === slot;

/** A forged mark is told each time: nobody forges by accident. */
const isQuiet = (
  { kind, table }: Extract<DecoderCommand, { type: 'ReportAlert' }>['data'],
  { toldBypasses }: Decoder,
  at: Timestamp,
): boolean => {
  const told = kind === 'bypass' ? toldBypasses.get(table ?? '') : undefined;
  // A clock that was set back must not keep a table quiet for longer.
  return told !== undefined && Math.abs(epochMsOf(at) - epochMsOf(told)) < BYPASS_QUIET_MS;
};

const evolve = (state: Decoder, event: DecoderEvent): Decoder => {
  switch (event.type) {
    case 'DecoderAttached': {
      const { system_id, timeline, slot, start, at: since } = event.data;
      return { ...state, attached: { system_id, timeline, slot, start, since } };
    }
    case 'DecoderDetached':
      return { ...state, attached: null, reason: null };
    case 'DecoderDegraded':
      return { ...state, reason: event.data.reason };
    case 'DecoderRecovered':
      return { ...state, reason: null };
    case 'DecoderAlerted':
      return event.data.kind === 'bypass' ? told(state, event.data.table ?? '', event.data.at) : state;
  }
};

/** Tables whose quiet is over are let go: the state stays small, however many tables there are. */
const told = (state: Decoder, table: string, at: Timestamp): Decoder => {
  const since = epochMsOf(at) - BYPASS_QUIET_MS;
  const kept = [...state.toldBypasses].filter(([other, toldAt]) => other !== table && epochMsOf(toldAt) > since);
  return { ...state, toldBypasses: new Map([...kept, [table, at]]) };
};

export const decoderDecider: Decider<Decoder, DecoderCommand, DecoderEvent> = {
  category: 'decoder',
  eventTypes: {
    DecoderAttached: true,
    DecoderDetached: true,
    DecoderDegraded: true,
    DecoderRecovered: true,
    DecoderAlerted: true,
  },
  initialState,
  decide,
  evolve,
};
