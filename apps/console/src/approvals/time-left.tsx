import { useEffect, useState } from 'react';
import { serverNow } from '../kernel/clock.ts';
import { timeLeft } from '../kernel/times.ts';
import { Meter } from '../kit/kit.tsx';
import styles from './approvals.module.css';

const SOON_MS = 300_000;

const useServerNow = (): number => {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
};

/** The time left until an instant, counted by the service's clock. */
export const TimeLeft = ({ until }: { readonly until: string }) => {
  const leftMs = Date.parse(until) - useServerNow();
  return (
    <span className={styles['left']} data-soon={leftMs < SOON_MS ? '' : undefined}>
      {leftMs <= 0 ? 'expired' : `${timeLeft(leftMs)} left`}
    </span>
  );
};

export const TimeBar = ({ from, until }: { readonly from: string; readonly until: string }) => {
  const whole = Date.parse(until) - Date.parse(from);
  const over = useServerNow() - Date.parse(from);
  return <Meter used={Math.max(0, Math.min(over, whole))} limit={whole} label="Elapsed time" />;
};
