import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { type ComponentType, lazy, type LazyExoticComponent, Suspense, useEffect } from 'react';
import { Link, Route, Router, Switch, useLocation } from 'wouter';
import { ApprovalScreen } from '../approvals/approval-screen.tsx';
import { ApprovalsScreen } from '../approvals/approvals-screen.tsx';
import { onRefusal } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';
import { LiveProvider } from '../kernel/live-provider.tsx';
import { invalidate } from '../kernel/refresh.ts';
import { SessionProvider, useMe } from '../kernel/session.tsx';
import { Failure } from '../kit/failure.tsx';
import { Bones, Empty } from '../kit/kit.tsx';
import { signOutAbsent } from './account.tsx';
import { ScreenBoundary } from './boundary.tsx';
import { leave, readAnew } from './leaving.ts';
import { ScreenHead } from './screen.tsx';
import { Shell } from './shell.tsx';
import { goOnAs } from './signed-out.ts';

type Detail = ComponentType<{ readonly id: string }>;

const never = new Promise<never>(() => undefined);

/**
 * Loads a screen when it is first opened. If a deployment has removed its file, the promise never resolves: loading
 * goes on without an error, and the banner tells that there is a new version.
 */
const load = <Name extends string, Part extends ComponentType | Detail>(
  module: () => Promise<Readonly<Record<Name, Part>> | undefined>,
  name: Name,
): LazyExoticComponent<Part> => lazy(async () => ({ default: ((await module()) ?? (await never))[name] }));

// The Stop dialog and the approval card are not here: they are part of the first load, so that they work if no further
// file can be loaded.
const OverviewScreen = load(() => import('../insights/overview-screen.tsx'), 'OverviewScreen');
const ActionsScreen = load(() => import('../gate/actions-screen.tsx'), 'ActionsScreen');
const ActionScreen = load(() => import('../gate/action-screen.tsx'), 'ActionScreen');
const AgentsScreen = load(() => import('../agents/agents-screen.tsx'), 'AgentsScreen');
const AgentScreen = load(() => import('../agents/agent-screen.tsx'), 'AgentScreen');
const PoliciesScreen = load(() => import('../policies/policies-screen.tsx'), 'PoliciesScreen');
const PolicyScreen = load(() => import('../policies/policy-screen.tsx'), 'PolicyScreen');
const ConnectorsScreen = load(() => import('../connectors/connectors-screen.tsx'), 'ConnectorsScreen');
const ConnectorScreen = load(() => import('../connectors/connector-screen.tsx'), 'ConnectorScreen');
const InsightsScreen = load(() => import('../insights/insights-screen.tsx'), 'InsightsScreen');
const DeedsScreen = load(() => import('../ledger/deeds-screen.tsx'), 'DeedsScreen');
const SettingsScreen = lazy(async () => ({ default: (await import('../people/settings-screen.tsx')).SettingsScreen }));
const DeedScreen = load(() => import('../ledger/deed-screen.tsx'), 'DeedScreen');

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Only a request that got no answer is retried: a refusal would be the same again.
      retry: (count, error) => count < 2 && error instanceof ApiError && error.code === 'unreachable',
      staleTime: 5_000,
      // Without a network, a request fails at once. The default would pause it, and send it later by itself.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

onRefusal.current = ({ status, code, param }) => {
  if (status === 401) void leave((me) => goOnAs(me, queries));
  else if (code === 'conflict' && param === 'Service-Org') readAnew();
  // The role may have changed, or the person may have signed in again in another tab, which gives a new CSRF token.
  // `me` is read again, and the next press uses it.
  else if (code === 'insufficient_role' || code === 'csrf_failed') invalidate(queries, ['me']);
};

const IDLE_MS = 12 * 3_600_000;

/**
 * Signs out after twelve hours without any input. The service cannot see this, because the Console's own reads keep the
 * session alive.
 */
const useIdleEnd = (): void => {
  useEffect(() => {
    let lastAt = performance.now();
    const notice = (): void => {
      lastAt = performance.now();
    };
    const inputs = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;
    for (const input of inputs) addEventListener(input, notice, { passive: true });
    const timer = setInterval(() => {
      if (performance.now() - lastAt <= IDLE_MS) return;
      void signOutAbsent().then(
        // A page that stays, because it holds drafts, must not end the next session, too. An input begins a new count.
        () => (lastAt = Infinity),
        // Tried again in a minute.
        () => undefined,
      );
    }, 60_000);
    return () => {
      clearInterval(timer);
      for (const input of inputs) removeEventListener(input, notice);
    };
  }, []);
};

const NotFound = () => (
  <>
    <ScreenHead title="Page not found" />
    <Empty title="The Console has no page at this address">
      The link may be incomplete or from another version. <Link href="/">Go to Overview</Link>
    </Empty>
  </>
);

const Screens = () => (
  <Suspense fallback={<Bones />}>
    <Switch>
      <Route path="/">{() => <OverviewScreen />}</Route>
      <Route path="/actions">{() => <ActionsScreen />}</Route>
      <Route path="/actions/:id">{({ id }) => <ActionScreen key={id} id={id} />}</Route>
      <Route path="/approvals">{() => <ApprovalsScreen />}</Route>
      <Route path="/approvals/:id">{({ id }) => <ApprovalScreen key={id} id={id} />}</Route>
      <Route path="/agents">{() => <AgentsScreen />}</Route>
      <Route path="/agents/:id">{({ id }) => <AgentScreen key={id} id={id} />}</Route>
      <Route path="/policies">{() => <PoliciesScreen />}</Route>
      <Route path="/policies/:id">{({ id }) => <PolicyScreen key={id} id={id} />}</Route>
      <Route path="/connectors">{() => <ConnectorsScreen />}</Route>
      <Route path="/connectors/:id">{({ id }) => <ConnectorScreen key={id} id={id} />}</Route>
      <Route path="/insights">{() => <InsightsScreen />}</Route>
      <Route path="/deeds">{() => <DeedsScreen />}</Route>
      <Route path="/deeds/:id">{({ id }) => <DeedScreen key={id} id={id} />}</Route>
      <Route path="/settings">{() => <SettingsScreen place="organization" />}</Route>
      <Route path="/settings/:place">{({ place }) => <SettingsScreen place={place} />}</Route>
      <Route>{() => <NotFound />}</Route>
    </Switch>
  </Suspense>
);

const SignedIn = () => {
  const { data: me, error, refetch } = useMe();
  const [place] = useLocation();
  useIdleEnd();
  if (me === undefined) {
    return (
      <main style={{ padding: 24 }}>
        {error === null ? <Bones /> : <Failure error={error} onRetry={() => void refetch()} />}
      </main>
    );
  }
  return (
    <SessionProvider me={me}>
      <LiveProvider>
        <Shell>
          <ScreenBoundary place={place}>
            <Screens />
          </ScreenBoundary>
        </Shell>
      </LiveProvider>
    </SessionProvider>
  );
};

export const App = () => (
  <QueryClientProvider client={queries}>
    <Router base="/app">
      <SignedIn />
    </Router>
  </QueryClientProvider>
);
