package dev.punctual;

/** Why a handler should stop. */
public enum StopReason {
    /** Somebody has cancelled the task. */
    CANCELLED("cancelled"),
    /** Somebody has paused the task. */
    PAUSED("paused"),
    /** Another worker may have the task by now. */
    LOST("lost"),
    /** The program ends. */
    STOPPING("stopping");

    private final String text;

    StopReason(String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
