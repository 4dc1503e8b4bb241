package dev.punctual;

/** A task that the server has, durably. */
public record Pushed(String queue, String id) {}
